"""Text for a screen: sanitised, measured in cells, named by language, coloured by role. Pure."""
