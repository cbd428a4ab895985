"""The code in the answers of the pages, put into their exercises: it compiles, runs, has right results and
no hazards, or the one that the answer tells of. Whole programs are in test_page_programs.py.

tests/pages/CHAPTER/NAME.toml says how, for CHAPTER/NAME.md; an answer may have several entries:

[[tried]]
answer      the number of the answer
parts       where each piece of its code goes in NAME.cu (or in `file`, beside it): before, behind or
            instead_of a text that stands there once
also        changes that the answer leaves to words: replace a text that stands there once, by another
options     of the run
architecture  such as "90a", where the exercise needs a GPU of its own: nvcc compiles the code for it
finds       a text of the hazard check's report, where the answer tells of a hazard
status      the exit status, where the answer tells of wrong results
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from changed_files import changed_files
from lab_cli import toml_file
from lab_cli.paths import ROOT
from lab_cli.results import tables
from program import run_noting

ANSWER = re.compile(r"<summary>Answer (\d+)</summary>(.*?)</details>", re.DOTALL)
CODE = re.compile(r"^```cpp\n(.*?)^```", re.MULTILINE | re.DOTALL)


def pieces() -> dict[tuple[Path, int], list[str]]:
    """The code of each answer that has some, but no whole program."""
    found = {}
    for page in tables.pages():
        for number, text in ANSWER.findall(page.read_text(encoding="utf-8")):
            code = [piece for piece in CODE.findall(text) if "int main(" not in piece]
            if code:
                found[page, int(number)] = code
    return found


def tried() -> dict[tuple[Path, int], list[dict[str, Any]]]:
    found: dict[tuple[Path, int], list[dict[str, Any]]] = {}
    for page in tables.pages():
        facts = ROOT / "tests" / "pages" / page.relative_to(ROOT).with_suffix(".toml")
        if facts.exists():
            for entry in toml_file.load(facts).get("tried", []):
                found.setdefault((page, entry["answer"]), []).append(entry)
    return found


def with_answer(source: Path, code: list[str], entry: dict[str, Any]) -> dict[str, str]:
    """The files that the answer changes, by name."""
    assert len(entry["parts"]) == len(code), "each piece of code has a place in `parts`"
    changes = []
    for piece, part in zip(code, entry["parts"]):
        for place, new in {
            "before": "{piece}{old}",
            "behind": "{old}{piece}",
            "instead_of": "{piece}",
        }.items():
            if place in part:
                old = part[place]
                changes.append((part.get("file", ""), old, new.format(piece=piece, old=old)))
    changes += [
        (each.get("file", ""), each["replace"], each["by"]) for each in entry.get("also", [])
    ]
    return changed_files(source, f"{source.stem}, answer {entry['answer']}", changes)


def for_nvcc(page: Path, number: int) -> bool:
    return any("architecture" in entry for entry in tried().get((page, number), []))


def compile_with_nvcc(file: Path, beside: Path, architecture: str) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        pytest.skip("no nvcc")
    folders = ["-I", str(ROOT / "common"), "-I", str(beside)]
    target = f"arch=compute_{architecture},code=sm_{architecture}"
    command = [nvcc, "-std=c++17", "-gencode", target, "-Werror", "all-warnings", *folders]
    subprocess.run([*command, "-c", str(file), "-o", f"{file}.o"], check=True)


EACH = sorted(pieces(), key=lambda key: (str(key[0]), key[1]))
ALL, FOR_NVCC = (
    [pytest.param(*key, id=f"{key[0].stem}-{key[1]}") for key in EACH if for_nvcc(*key) is gpu]
    for gpu in (False, True)
)


def test_entries_have_an_answer() -> None:
    assert tried().keys() - pieces().keys() == set()


@pytest.mark.parametrize(("page", "number"), ALL)
def test_the_code_of_an_answer(page: Path, number: int, build, instrumented, tmp_path) -> None:
    code, entries = pieces()[page, number], tried().get((page, number), [])
    assert entries, f"tests/pages has no [[tried]] for answer {number} of {page.name}"
    source = page.with_suffix(".cu")
    for index, entry in enumerate(entries):
        folder = tmp_path / str(index)
        folder.mkdir()
        for name, text in with_answer(source, code, entry).items():
            (folder / name).write_text(text, encoding="utf-8")
        program = instrumented(
            folder / source.name, str(build / "common" / "liblab_common.a"),
            "-I", str(ROOT / "common"), "-I", str(source.parent),
        )  # fmt: skip
        options = shlex.split(entry.get("options", ""))
        done, findings = run_noting([str(program), *options], "CUDA_EMULATOR_CHECK")
        assert done.returncode == entry.get("status", 0), done.stdout + done.stderr
        assert entry.get("finds", "no hazards found in") in " ".join(findings.split())


@pytest.mark.parametrize(("page", "number"), FOR_NVCC)
def test_the_code_of_an_answer_compiles(page: Path, number: int, tmp_path) -> None:
    source = page.with_suffix(".cu")
    for entry in tried()[page, number]:
        for name, text in with_answer(source, pieces()[page, number], entry).items():
            (tmp_path / name).write_text(text, encoding="utf-8")
        compile_with_nvcc(tmp_path / source.name, source.parent, entry["architecture"])
