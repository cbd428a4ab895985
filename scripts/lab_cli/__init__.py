"""What stands behind ./lab: standard library only, since it runs before anything is set up."""

__version__ = "0.9.0"  # a release changes it, and CHANGELOG.md has a section for it
