"""Hand-outs: a workspace for students without what they are to write."""
