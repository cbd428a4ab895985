"""The shortest exercise.toml that there can be, and an assignment for it."""

FACTS = """\
order = 10
idea = "what it is about"
[tests]
runs = [""]
[bench]
runs = [""]
"""
ASSIGNMENT = """
[[assignment]]
name = "{name}"
sentence = "Write in order."
stars = 1
kernels = ["better"]
before = "worse"
hints = ["one", "two", "three"]
sizes = ["--size=10"]
check = "--size=10"
bounds = [{{ count = "gst_efficiency >= 95 %", options = "", goal = true }}]
"""
