"""A file becomes chunks along its syntax. Pure, and run in child processes only."""
