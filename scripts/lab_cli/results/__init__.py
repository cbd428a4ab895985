"""Results files, and what is made of them: measurements, figures, and the tables of the pages."""
