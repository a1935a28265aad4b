"""A query becomes hits: the query language, the regex engine and the semantic engine."""
