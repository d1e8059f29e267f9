"""Metrics, token lookup, encoding traces and round trips."""
