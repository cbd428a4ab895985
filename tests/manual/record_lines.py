"""Records what the lines of kernels cost on a GPU, for tests/scripts/lines/test_recorded_lines.py.

    python3 tests/manual/record_lines.py

takes a GPU, nvcc and ncu, and as root some minutes. Each exercise of the table is built as ./lab builds it
for the GPU (-O3 -lineinfo), and ncu profiles each of its kernels once, with the options of
[counts] in exercise.toml. recorded/h200.csv gets the rows of one launch of each kernel.

    python3 tests/manual/record_lines.py --pages FOLDER

takes none: for each exercise, FOLDER has what these print, compressed with gzip:

    NAME.raw.csv.gz      ncu --import REPORT --csv --page raw --print-units base
    NAME.source.csv.gz   ncu --import REPORT --csv --page source --print-source cuda,sass
    NAME.sass.gz         cuobjdump -xelf all PROGRAM, then nvdisasm -gi of each file

of a REPORT by

    ncu --clock-control none --section SourceCounters --import-source yes -o REPORT PROGRAM --profile
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
LINES = CHECKOUT / "tests" / "scripts" / "lines"
sys.path[:0] = [str(CHECKOUT / "scripts"), str(LINES)]

import line_table  # noqa: E402
from lab_cli import catalogue  # noqa: E402
from lab_cli.counters import raw_csv  # noqa: E402
from lab_cli.lines import ncu_source, nvdisasm  # noqa: E402
from lab_cli.lines.collect import collect  # noqa: E402
from lab_cli.lines.model import LineProfile  # noqa: E402

TABLE = LINES / "recorded" / "h200.csv"
# Together they take the cpu back end half a minute.
EXERCISES = """compensatedSum controlDivergence firstKernel matmul matmulFast memoryBound memorySpaces
    misalignedAccess reduceFloat reduceInteger sharedBanks sharedReduction shuffleOrShared stridedAccess
    structLayouts transpose warpShuffle""".split()


def on_gpu(name: str) -> LineProfile:
    options = catalogue.one(name).facts.counts.words
    return collect([name], "gpu", options)[1]


def of_pages(name: str, folder: Path) -> LineProfile:
    raw, page, code = (
        gzip.decompress((folder / f"{name}.{what}.gz").read_bytes()).decode(errors="replace")
        for what in ("raw.csv", "source.csv", "sass")
    )
    functions = [*nvdisasm.parsed(code.splitlines())]
    return ncu_source.parse(page, raw_csv.parse(raw).launches, functions, "", CHECKOUT)


def main(words: list[str]) -> int:
    if words and (len(words) != 2 or words[0] != "--pages"):
        print(__doc__, file=sys.stderr)
        return 2
    table: line_table.Table = {}
    for name in EXERCISES:
        profile = of_pages(name, Path(words[1])) if words else on_gpu(name)
        table.update(line_table.first_launches(line_table.of_profile(name, profile)))
    TABLE.write_text(line_table.text(table))
    print(f"{TABLE}: {len(table)} rows, {len({key.launch for key in table})} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
