"""Compares all that an exercise prints on the cpu back end with what it printed when somebody last looked;
the ctest cases NAME/printed and NAME/printed_as_gpu use it.

    check_printed.py exercise.toml PROGRAM [NAME]

This compares the values that --help says options have and may have, the table of the odd one of the small runs, with
--profile, and the rows of --csv --reps=1 alone. Without a GPU they have no times. So the same is printed everywhere,
but for the processor and its memory, which are left out. The file is tests/printed.txt in the exercise's folder.

NAME_as_gpu, beside which NAME is built, prints the table of the small run and the rows of the odd one. tests/printed_as_gpu.txt has what NAME does
not print in the same words, and the number of the other lines. NAME_as_gpu is not timed: both runs have --profile, and
numbers with a point, which may be of times, are left out.

Where the texts differ, this prints the differences and ends with 1. With LAB_ACCEPT=1 in the environment it writes the
file instead, which is then to be looked at before it is committed. Without the file, or where a program is not built,
it ends with 77: skipped.
"""

from __future__ import annotations

import difflib
import itertools
import os
import re
import shlex
import sys
import textwrap
from pathlib import Path

from judges import long_line_problem
from program import outdated, run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))

from lab_cli import exercise_facts  # noqa: E402

NOT_THERE = 77
ONE_SM = {"CUDA_EMULATOR_SMS": "1"}  # blocks run in one order
# Its name, which may have parentheses; behind a title it stands in a line of its own where it is long.
PROCESSOR = re.compile(r"(\s+on )?( *)(CPU emulation of sm_\d+) \((?:[^()\n]|\([^()\n]*\))*\)( *)")
AS_GPU = "_as_gpu"
DEVICE = re.compile(r"NVIDIA H200|CPU emulation of sm_90")
FRACTION = re.compile(r"( *)\d+\.\d+(e[-+]\d+)?")
OPTION = re.compile(r"^  (--\w+)=\S+ .*?(?:(\S+) to (\S+) )?\(default (\S+)\)$", re.MULTILINE)
SAME_EVERYWHERE = ("--seed", "--device")
MEMORY = re.compile(r"(global memory\b)[^\n]*(\n +[\d.]+ [KMGT]iB\b)?")


def without_machine(text: str) -> str:
    """`text` without the name of the processor and the size of its memory."""
    text = MEMORY.sub(r"\1", text)
    return PROCESSOR.sub(
        lambda found: (" on " if found[1] else found[2][:1]) + found[3] + found[4][:1], text
    )


def without_times(text: str) -> str:
    """`text` with a # for each number with a point; in a table, where its last digit stands."""
    return FRACTION.sub(lambda found: "#".rjust(len(found[0]) if found[1] else 0), text)


def values_in(text: str) -> str:
    """Of a --help: each option with its default and the range that it may be in, as --reps=3(1..1000000)."""
    found = OPTION.findall(re.sub(r"\n {10,}", " ", text))
    words = [
        f"{name}={default}" + (f"({least}..{most})" if least else "")
        for name, least, most, default in found
        if name not in SAME_EVERYWHERE
    ]
    return "\n".join(textwrap.wrap(" ".join(words), 100, break_on_hyphens=False)) + "\n"


def output_of(program: str, words: list[str]) -> str:
    done = run([program, *words], ONE_SM)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit status {done.returncode}\n{done.stderr}")
    too_long = "" if "--csv" in words else long_line_problem(done.stdout.splitlines())
    if too_long:
        sys.exit(f"{' '.join(words)}: {too_long}")
    return without_machine(done.stdout)


def words_of(line: str) -> list[str]:
    """What is the same on a GPU and without one, where only columns lie elsewhere."""
    return DEVICE.sub("", line).split()


def own_lines(text: str, other: str) -> str:
    """`text` with a number in place of several lines that `other` has as well."""
    others = [words_of(line) for line in other.splitlines()]
    own: list[str] = []
    for known, group in itertools.groupby(text.splitlines(), lambda x: words_of(x) in others):
        lines = list(group)
        own += [f"({len(lines)} lines as without a GPU)"] if known and len(lines) > 1 else lines
    return "\n".join(own) + "\n"


def run_text(program: str, words: list[str], as_gpu: bool) -> str:
    text = output_of(program, words)
    return without_times(text) if as_gpu else text


def printed(program: str, small: str, odd: str) -> str:
    """The texts, each below its command line, as a terminal shows them."""
    name = Path(program).name
    as_gpu = name.endswith(AS_GPU)
    table = [*shlex.split(small if as_gpu else odd), "--profile"]
    rows = [*shlex.split(odd), "--profile", "--csv"] if as_gpu else ["--csv", "--reps=1"]
    texts = [("--help", values_in(output_of(program, ["--help"])))]
    for words in (table, rows):
        text = run_text(program, words, as_gpu)
        if as_gpu:
            text = own_lines(text, run_text(program[: -len(AS_GPU)], words, as_gpu))
        texts.append((" ".join(words), text))
    return "".join(f"$ {name} {words}\n{text}" for words, text in texts)


def compared(file: Path, program: str, small: str, odd: str) -> int:
    """The exit status."""
    now = printed(program, small, odd)
    if os.environ.get("LAB_ACCEPT") == "1":
        file.parent.mkdir(exist_ok=True)
        file.write_text(now, encoding="utf-8")
        print(f"written: {file}")
        return 0
    if not file.exists():
        print(f"skipped: {file} is not there: LAB_ACCEPT=1 ./lab test -R /printed writes it")
        return NOT_THERE
    before = file.read_text(encoding="utf-8")
    if now == before:
        return 0
    lines = difflib.unified_diff(
        before.splitlines(), now.splitlines(), str(file), "printed now", lineterm=""
    )
    print("\n".join(lines))
    print("FAILED: if this is meant, LAB_ACCEPT=1 ./lab test -R /printed writes the file anew")
    return 1


def main(facts: str, program: str, *beside: str) -> int:
    folder = Path(facts).parent
    source = str(folder / f"{folder.name}.cu")
    reason = next(filter(None, (outdated(each, source) for each in (program, *beside))), "")
    if reason:
        print(f"skipped: {reason}")
        return NOT_THERE
    name = "printed_as_gpu.txt" if program.endswith(AS_GPU) else "printed.txt"
    runs = exercise_facts.load(Path(facts)).tests.small_runs
    return compared(folder / "tests" / name, program, runs[0], runs[-1])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
