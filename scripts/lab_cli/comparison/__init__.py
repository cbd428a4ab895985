"""Compares two versions of a kernel: their counts, the lines that make the difference, and their times.

versions.py has what is compared, differences.py what differs and in which order it is told, sentences.py its words;
text.py, page.py and as_json.py show a comparison. asked.py reads what somebody types, counting.py and timing.py run
the programs.
"""
