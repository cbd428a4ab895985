"""The code in the answers of the pages (page_answers.py): it compiles, and its runs end, print, count and
have hazards as the page says."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from compile_quickly import Compiler
from lab_cli import metrics
from lab_cli.counters.raw_csv import parse
from lab_cli.paths import ROOT
from page_answers import Run, Variant, answers, words, written
from program import run_noting

EACH = [
    pytest.param(
        page, variant, id=f"{page.parents[1].name}-{page.parent.name}-{number}-{variant.title}"
    )
    for page, variants in answers().items()
    for number, variant in enumerate(variants)
]
CLEAN = "no hazards found in"


@pytest.mark.parametrize(("page", "variant"), EACH)
def test_an_answer_does_what_the_page_says(
    page: Path, variant: Variant, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder = tmp_path / "with_answer"
    folder.mkdir()
    source = written(page, variant, folder)
    if variant.architecture:
        compile_with_nvcc(source, variant.architecture)
        return
    assert variant.runs, f"{page.parent.name}, {variant.title}: no <!-- run: OPTIONS -->"
    compiler: Compiler = request.getfixturevalue("compiler")
    program = compiler.program(source, tmp_path / source.stem, "-w")
    for run in variant.runs:
        try_out([str(program), *shlex.split(run.options)], run, bool(variant.program))


def compile_with_nvcc(source: Path, architecture: str) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        pytest.skip("no nvcc")
    target = f"arch=compute_{architecture},code=sm_{architecture}"
    command = [nvcc, "-std=c++17", "-gencode", target, "-Werror", "all-warnings"]
    include = ["-I", str(ROOT / "common")]
    subprocess.run([*command, *include, "-c", str(source), "-o", f"{source}.o"], check=True)


def try_out(command: list[str], run: Run, prints_all: bool) -> None:
    """AssertionError where `command` does something else than `run` says."""
    environment = {"CUDA_EMULATOR_SMS": run.multiprocessors} if run.multiprocessors else {}
    done, findings = run_noting(command, "CUDA_EMULATOR_CHECK", environment)
    assert done.returncode == run.status, done.stdout + done.stderr
    printed = words(done.stdout)
    if prints_all:
        assert printed == " ".join(run.prints)
    for text in run.prints:
        assert text in printed
    assert (run.finds or CLEAN) in words(findings)
    if run.counts:
        launches = parse(run_noting(command, "CUDA_EMULATOR_PROFILE", environment)[1]).launches
        for metric, values in run.counts.items():
            name = metrics.load().metrics[metric].nsight
            counted = [launch.values.get(name, 0) for launch in launches]
            assert (counted if len(values) > 1 else [sum(counted)]) == values, metric
