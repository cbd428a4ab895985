"""What stands behind ./lab: standard library only, since it runs before anything is set up."""
