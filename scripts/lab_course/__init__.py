"""What courses need on top of lab: hand-outs, grading, reports, and jobs of Slurm. It uses lab_cli, of which
nothing but the table of commands knows it."""
