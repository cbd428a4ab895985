"""Commands of lab as jobs of Slurm, which does the queueing.

A job is plain bash, in a folder of its own below OUT/slurm, which the nodes share: it runs the same
command without --slurm there, and notes its exit status in a file as its last act. So lab needs no
database of accounts (sacct), and what happened can be read there when nobody waits any more.
"""
