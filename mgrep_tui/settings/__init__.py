"""Where the program keeps its folders, what it may be configured to do, and what it remembers."""
