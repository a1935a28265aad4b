"""The index folder: catalog, generations, the one writer, and how it stays true to the disk."""
