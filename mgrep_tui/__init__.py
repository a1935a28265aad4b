"""Explore a code base in the terminal, by meaning and by regular expression."""

__version__ = "0.1.0"
