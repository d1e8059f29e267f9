"""Pre-tokenization: patterns, a vectorized fast path, and counts of pre-tokens."""
