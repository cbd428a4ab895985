"""Writes the measured tables of the READMEs from the CSV files under results/, or checks them.

A table stands between two comments; the first says where its rows come from:

    <!-- table results/h200/reduceInteger.csv | kernel, median_ms, gbps | size=16777216 -->
    ...
    <!-- end of table -->

The parts are the file, the columns, and (optional) the rows: those whose column `parameters` has
each of these words. `# name: value` lines at the top of a CSV file say where it was measured.

./lab plot does this too.

    python3 scripts/readme_tables.py [--check]
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from lab_cli.errors import LabError
from lab_cli.files import write
from lab_cli.process import say
from lab_cli.results import parse, read_text
from lab_cli.results import shown as shown_path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(<!-- table ([^|\n]+)\|([^|\n]+)(?:\|([^|\n]+))? -->\n).*?(<!-- end of table -->)", re.DOTALL
)
TITLES = {
    "kernel": "kernel",
    "grid": "grid",
    "block": "block",
    "median_ms": "time [ms]",
    "gbps": "GB/s",
    "gflops": "GFLOP/s",
    "percent_peak": "% of peak",
    "speedup": "speed-up",
    "split_percent": "split [%]",
    "wasted_percent": "wasted [%]",
    "latency_cycles": "latency [cycles]",
    "percent_law": "% by the law",
    "block_ms": "block [ms]",
    "idle_percent": "idle [%]",
    "duration": "duration [us]",
}
# Four significant digits are more than a measurement repeats.
FORMATS = {
    "median_ms": "#.4g",
    "all_depths_ms": "#.4g",
    "gbps": ",.0f",
    "gflops": ",.0f",
    "percent_peak": ".1f",
    "speedup": ".2f",
    "ideal": ".2f",
    "length": ",.0f",
    "warps": ",.0f",
    "split_percent": ".4g",
    "wasted_percent": ".1f",
    "in_flight": ",.0f",
    "per_cycle": ".4g",
    "latency_cycles": ".4g",
    "percent_law": ".1f",
    "threads": ",.0f",
    "waves": ".2f",
    "block_ms": "#.4g",
    "idle_percent": ".1f",
    "branch": ",.0f",
    "divergent_branch": ",.0f",
    "inst_executed": ",.0f",
    "duration": ",.1f",
    "occupancy": ".1f",
    "achieved": ".1f",
    "wrong_elements": ",.0f",
    "elements": ",.0f",
}
NAMES = {
    "exercise",
    "kernel",
    "build",
    "check",
    "benchmark",
    "property",
    "unit",
    "meaning",
    "limited_by",
    "lab_check",
}


def shown(value: str, column: str) -> str:
    try:
        return format(float(value), FORMATS[column])
    except (KeyError, ValueError):  # a column of text, or a cell: empty, or "12.5 (ncu: 25.0)"
        return value


def render(path: Path, columns: list[str], words: list[str]) -> str:
    table = parse(read_text(path), path)
    rows = [row for row in table.rows if set(words) <= set(row.get("parameters", "").split())]
    if not rows:
        raise LabError(f"{shown_path(path)}: no row with parameters {' '.join(words)}")
    missing = [column for column in columns if column not in rows[0]]
    if missing:
        has = ", ".join(table.columns)
        raise LabError(f"{shown_path(path)}: no column {', '.join(missing)}; it has {has}")
    lines = [
        [TITLES.get(column, column.replace("_", " ")) for column in columns],
        ["---" if column in NAMES else "---:" for column in columns],
        *[[shown(row[column], column) for column in columns] for row in rows],
    ]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def with_tables(text: str) -> str:
    def replace(match: re.Match[str]) -> str:
        columns = [column.strip() for column in match[3].split(",")]
        table = render(ROOT / match[2].strip(), columns, (match[4] or "").split())
        return match[1] + "\n" + table + "\n" + match[5]

    return BLOCK.sub(replace, text)


def refresh(check: bool) -> list[str]:
    """Writes the tables, or with `check` nothing; returns the READMEs where they were out of date."""
    stale = []
    for readme in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md"))]:
        old = readme.read_text()
        new = with_tables(old)
        if new != old:
            stale.append(str(readme.relative_to(ROOT)))
            if not check:
                write(readme, new)
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing; status 1 if a table is out of date"
    )
    arguments = parser.parse_args()
    try:
        stale = refresh(arguments.check)
    except LabError as error:
        say(f"lab: {error}")
        return error.status
    for path in stale:
        print(f"{path}: tables {'are out of date' if arguments.check else 'written'}")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
