"""Small parts for work in the background: cancel tokens, child processes, batching."""
