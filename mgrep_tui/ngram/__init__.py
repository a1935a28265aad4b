"""The sparse n-gram index: which blocks of which files can hold a match of a pattern."""
