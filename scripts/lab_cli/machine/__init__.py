"""This machine: its tools, compilers, GPU and driver, and the set-up that installs what is missing."""
