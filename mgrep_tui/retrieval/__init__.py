"""From a question to ranked chunks: the vector file, the keyword index, and the rules that put the right place first."""
