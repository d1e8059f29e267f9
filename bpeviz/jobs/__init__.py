"""Long trainings in worker processes."""
