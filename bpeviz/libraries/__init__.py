"""Tokenizers and chat templates of others, applied by their own libraries in workers."""
