"""One root or several, their indexes and their searches, as both fronts (screen and command line) see them."""
