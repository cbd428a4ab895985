"""The student's loop: a copy of an exercise to write in, a verdict after each save, hints, the solution."""
