"""Compares all that an exercise prints on the cpu back end with what it printed when somebody last looked;
the ctest cases printed/NAME of cmake/LabExercise.cmake use it.

    check_printed.py FILE -- COMMAND...

Runs the command with --help, with --profile, and with --profile --csv: nothing is timed, so that the same is
printed everywhere, but for the processor and its memory, which are left out. FILE has the three texts. Where they
differ, this prints the differences and ends with 1; with LAB_ACCEPT=1 in the environment it writes FILE
instead, which is then to be looked at before it is committed. Without FILE it ends with 77: skipped.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from pathlib import Path

from program import run

NOT_THERE = 77
RUNS = (["--help"], ["--profile"], ["--profile", "--csv"])
ONE_SM = {"CUDA_EMULATOR_SMS": "1"}  # blocks run in one order
# Its name, which may have parentheses; behind a title it stands in a line of its own where it is long.
PROCESSOR = re.compile(r"(\s+on )?( *)(CPU emulation of sm_\d+) \((?:[^()\n]|\([^()\n]*\))*\)( *)")
MEMORY = re.compile(r"(global memory\b)[^\n]*(\n +[\d.]+ [KMGT]iB\b)?")


def without_machine(text: str) -> str:
    """`text` without the name of the processor and the size of its memory."""
    text = MEMORY.sub(r"\1", text)
    return PROCESSOR.sub(
        lambda found: (" on " if found[1] else found[2][:1]) + found[3] + found[4][:1], text
    )


def printed(command: list[str]) -> str:
    """The three texts, each below its command line."""
    texts = []
    for options in RUNS:
        words = command[1:] + options if options != ["--help"] else options
        done = run([command[0], *words], ONE_SM)
        if done.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")
        line = " ".join([Path(command[0]).name, *words])
        texts.append(f"$ {line}\n{without_machine(done.stdout)}")
    return "\n".join(texts)


def main(arguments: list[str]) -> int:
    split = arguments.index("--")
    file = Path(arguments[0])
    now = printed(arguments[split + 1 :])
    if os.environ.get("LAB_ACCEPT") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8")
        print(f"written: {file}")
        return 0
    if not file.exists():
        print(f"skipped: {file} is not there: LAB_ACCEPT=1 ./lab test -R printed/ writes it")
        return NOT_THERE
    before = file.read_text(encoding="utf-8")
    if now == before:
        return 0
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), str(file), "printed now", lineterm=""
    )
    print("\n".join(lines))
    print("FAILED: if this is meant, LAB_ACCEPT=1 ./lab test -R printed/ writes the file anew")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
