"""Repositories that are not on this machine yet: read from an address into the cache, refreshed, listed and removed.

`addresses` says what an address means, `store` where its tree lies, `git_transfer` and `archive` bring it, `arrival` decides between them.
A tree that is complete appears under its name by one rename, so whatever ends the work, there is nothing half.
"""
