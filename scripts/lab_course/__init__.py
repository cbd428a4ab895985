"""What teachers need on top of lab: hand-outs, grading, reports, and Slurm."""
