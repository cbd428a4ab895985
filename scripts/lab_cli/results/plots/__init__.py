"""Figures of measured results, drawn with matplotlib: ./lab plot."""
