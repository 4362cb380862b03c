"""Data sets: readers of conversation files, answer keys, subsets and generated conversations."""
