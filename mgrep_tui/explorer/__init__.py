"""One root, its index and its searches, as both fronts (screen and command line) see them."""
