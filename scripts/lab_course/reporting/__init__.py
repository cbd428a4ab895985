"""Reports: their facts, and the pages that show them.

facts.py has what a report says, report.schema.json describes the same as JSON, *.html.j2 show it.
"""
