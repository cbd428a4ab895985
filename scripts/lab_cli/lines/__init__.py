"""Counts of a kernel for each line of its source."""
