"""What ctest runs, what each test depends on, and what came of it."""
