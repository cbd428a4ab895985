"""Tries the code in the answers of pages on a GPU, as test_page_answers.py and test_page_programs.py try it
on the cpu back end.

    python tests/try_answers.py NAME...

Each [[tried]] of NAME (page_answers.py) is compiled with nvcc and run, and must end with its status; each
whole program must print what the page says (page_programs.py). Left out are answers with a hazard on
purpose, whose results are those of chance. Status 1 if anything is not as it should be.
"""

from __future__ import annotations

import functools
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "scripts")]

from changed_files import write_copy  # noqa: E402
from lab_cli.building import own_program  # noqa: E402
from lab_cli.counters import profilers  # noqa: E402
from lab_cli.errors import LabError  # noqa: E402
from lab_cli.machine import setup  # noqa: E402
from page_answers import pieces, tried, with_answer  # noqa: E402
from page_programs import EXPECTED, programs  # noqa: E402

Compile = Callable[[Path], Path]


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def try_answer(page: Path, entry: dict[str, Any], build: Compile, folder: Path) -> str:
    """What is wrong with the answer, or an empty string."""
    source, code = page.with_suffix(".cu"), pieces()[page, entry["answer"]]
    program = build(write_copy(source, with_answer(source, code, entry), folder))
    done = run([str(program), *shlex.split(entry.get("options", ""))])
    wanted = entry.get("status", 0)
    return "" if done.returncode == wanted else f"status {done.returncode}\n{done.stdout}"


def try_program(name: str, build: Compile, folder: Path) -> str:
    source = folder / "answer.cu"
    source.write_text(programs()[name], encoding="utf-8")
    program = build(source)
    for options, printed, _ in EXPECTED[name]:
        done = run([str(program), *options])
        if (done.returncode, done.stdout) != (0, printed):
            return f"status {done.returncode}\n{done.stdout}"
    return ""


def trials(names: list[str], build: Compile) -> dict[str, Callable[[Path], str]]:
    """What the pages of these exercises have to try, by what it is called; each in a folder."""
    found: dict[str, Callable[[Path], str]] = {}
    for (page, number), entries in sorted(tried().items()):
        for index, entry in enumerate(entries, 1):
            if page.stem in names and "finds" not in entry:
                found[f"{page.stem}, answer {number}, entry {index}"] = functools.partial(
                    try_answer, page, entry, build
                )
    for name in EXPECTED:
        if name.split()[0] in names:
            found[f"{name}, program"] = functools.partial(try_program, name, build)
    return found


def try_all(names: list[str], build: Compile) -> bool:
    """Whether all of it is as it should be. Prints what was tried."""
    right = True
    for what, trial in trials(names, build).items():
        with tempfile.TemporaryDirectory() as folder:
            wrong = trial(Path(folder))
        print(f"{what}: {wrong or 'ok'}", flush=True)
        right = right and not wrong
    return right


def main(names: list[str]) -> int:
    missing = [name for name in names if not trials([name], Path)]
    if missing or not names:
        print(f"{__doc__}\nno answers to try: {', '.join(missing)}", file=sys.stderr)
        return 2
    choice, _ = profilers.require_gpu("")
    cmake = setup.ensure("gpu")
    right = try_all(names, lambda source: own_program.for_gpu([str(source)], choice, cmake, False))
    return 0 if right else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except LabError as error:
        sys.exit(f"try_answers.py: {error}")
