"""What is searched: which files under the root count, what bytes they hold, and what has changed."""
