"""Assignments: what of a submission is taken, where it runs, and what it is worth."""
