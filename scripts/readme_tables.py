"""Writes the measured tables of the READMEs from the CSV files under results/, or checks them.

A table stands between two comments; the first says where its rows come from:

    <!-- table results/h200/reduceInteger.csv | kernel, median_ms, gbps | size=16777216 -->
    ...
    <!-- end of table -->

The parts are the file, the columns, and (optional) the rows: those whose column `parameters` has
each of these words. `# name: value` lines at the top of a CSV file say where it was measured.

    python3 scripts/readme_tables.py [--check]
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
from pathlib import Path

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
}
NAMES = {"kernel", "check", "benchmark"}


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def shown(value: str, column: str) -> str:
    return format(float(value), FORMATS[column]) if value and column in FORMATS else value


def render(path: Path, columns: list[str], words: list[str]) -> str:
    rows = [row for row in read_rows(path) if set(words) <= set(row.get("parameters", "").split())]
    if not rows:
        raise SystemExit(f"{path}: no row with parameters {' '.join(words)}")
    missing = [column for column in columns if column not in rows[0]]
    if missing:
        raise SystemExit(f"{path}: no column {', '.join(missing)}; it has {', '.join(rows[0])}")
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--check", action="store_true", help="change nothing; status 1 if a table is out of date"
    )
    arguments = parser.parse_args()
    stale = []
    for readme in [ROOT / "README.md", *sorted(ROOT.glob("*/README.md"))]:
        old = readme.read_text()
        new = with_tables(old)
        if new == old:
            continue
        stale.append(readme.relative_to(ROOT))
        if not arguments.check:
            readme.write_text(new)
    for path in stale:
        print(f"{path}: tables {'are out of date' if arguments.check else 'written'}")
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
