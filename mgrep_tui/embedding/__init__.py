"""Text becomes vectors: one protocol, several models, a cache by content."""
