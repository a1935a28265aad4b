"""The parts of the main screen, drawn line by line."""
