"""Builds: the presets of CMake, programs of one's own, and running what was built for the profiler."""
