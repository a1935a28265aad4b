"""Chunks found by vectors and by words, fused and ranked."""
