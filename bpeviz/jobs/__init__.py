"""Trainings, and the reading of users' files, in worker processes."""
