"""Training jobs in worker processes."""
