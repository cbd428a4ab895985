"""The code in the answers of the pages, put into their exercises (page_answers.py): it compiles, runs, has
right results and no hazards, or the one that the answer tells of; and counts that it has are made."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from changed_files import write_copy
from lab_cli import metrics
from lab_cli.counters.raw_csv import parse
from lab_cli.paths import ROOT
from lab_cli.results import csv_file
from page_answers import measured, pieces, tried, with_answer
from program import run_noting


def for_nvcc(page: Path, number: int) -> bool:
    return any("architecture" in entry for entry in tried().get((page, number), []))


def written(folder: Path, page: Path, code: list[str], entry: dict[str, Any]) -> Path:
    """The exercise with the answer, and the headers beside it."""
    source = page.with_suffix(".cu")
    return write_copy(source, with_answer(source, code, entry), folder)


def compile_with_nvcc(file: Path, architecture: str) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        pytest.skip("no nvcc")
    target = f"arch=compute_{architecture},code=sm_{architecture}"
    command = [nvcc, "-std=c++17", "-gencode", target, "-Werror", "all-warnings"]
    subprocess.run(
        [*command, "-I", str(ROOT / "common"), "-c", str(file), "-o", f"{file}.o"], check=True
    )


EACH = sorted(
    {answer for answer, code in pieces().items() if code} | tried().keys(),
    key=lambda key: (str(key[0]), key[1]),
)
ALL, FOR_NVCC = (
    [pytest.param(*key, id=f"{key[0].stem}-{key[1]}") for key in EACH if for_nvcc(*key) is gpu]
    for gpu in (False, True)
)


def test_entries_have_an_answer() -> None:
    assert tried().keys() - pieces().keys() == set()


@pytest.mark.parametrize("page", measured(), ids=lambda page: page.stem)
def test_what_is_measured_is_in_the_results(page: Path) -> None:
    folder = ROOT / "results" / "h200"
    if not (folder / f"{page.stem}.csv").is_file():
        pytest.skip(f"nothing of {page.stem} has been measured")
    path = folder / f"{page.stem}.answers.csv"
    rows = csv_file.parse(csv_file.read_text(path), path).rows
    entries = [(str(entry["answer"]), entry.get("variant", "")) for entry in measured()[page]]
    assert {(row["answer"], row["variant"]) for row in rows} == {("0", ""), *entries}
    assert {row["check"] for row in rows} == {"ok"}


@pytest.mark.parametrize(("page", "number"), ALL)
def test_the_code_of_an_answer(
    page: Path, number: int, build, instrumented, tmp_path, monkeypatch
) -> None:
    code, entries = pieces()[page, number], tried().get((page, number), [])
    assert entries, f"tests/pages has no [[tried]] for answer {number} of {page.name}"
    for index, entry in enumerate(entries):
        folder = tmp_path / str(index)
        folder.mkdir()
        program = instrumented(
            written(folder, page, code, entry), str(build / "common" / "liblab_common.a"),
            "-I", str(ROOT / "common"),
        )  # fmt: skip
        command = [str(program), *shlex.split(entry.get("options", ""))]
        if "multiprocessors" in entry:
            monkeypatch.setenv("CUDA_EMULATOR_SMS", str(entry["multiprocessors"]))
        done, findings = run_noting(command, "CUDA_EMULATOR_CHECK")
        assert done.returncode == entry.get("status", 0), done.stdout + done.stderr
        assert entry.get("prints", "") in " ".join(done.stdout.split())
        assert entry.get("finds", "no hazards found in") in " ".join(findings.split())
        if "counts" in entry:
            launches = parse(run_noting(command, "CUDA_EMULATOR_PROFILE")[1]).launches
            for metric, values in entry["counts"].items():
                name = metrics.load().metrics[metric].nsight
                assert [launch.values[name] for launch in launches] == values, metric


@pytest.mark.parametrize(("page", "number"), FOR_NVCC)
def test_the_code_of_an_answer_compiles(page: Path, number: int, tmp_path) -> None:
    for entry in tried()[page, number]:
        file = written(tmp_path, page, pieces()[page, number], entry)
        compile_with_nvcc(file, entry["architecture"])
