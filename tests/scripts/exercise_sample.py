"""The shortest exercise.toml that there can be."""

FACTS = """\
order = 10
idea = "what it is about"
[tests]
runs = [""]
[bench]
runs = [""]
"""
