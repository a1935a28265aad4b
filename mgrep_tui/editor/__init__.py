"""How each editor is told to open a file at a line and column."""
