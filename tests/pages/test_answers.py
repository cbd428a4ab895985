"""The code in the answers of the pages (page_answers.py): it compiles, and its runs end, print, count and
have hazards as the page says. An answer that is meant to be right also passes the tests that a student runs.

Answers of a page that have nothing to do with each other are compiled into one program: with it each passes, or
else is tried alone."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest import mock

import program
import pytest
from compile_quickly import Compiler
from lab_cli import metrics
from lab_cli.counters.raw_csv import parse
from lab_cli.errors import LabError
from lab_cli.paths import ROOT
from page_answers import Run, Variant, answers, with_answer, words, written
from page_files import source_of
from students_tests import outcomes

CLEAN = "no hazards found "
MOST_SECONDS = (
    60  # of a program with several answers, which may wait for each other: then each is tried alone
)


def stands_alone(variant: Variant) -> bool:
    """Whether the code of another answer may change what comes of this one."""
    special = (run.finds or run.status or run.counts or run.multiprocessors for run in variant.runs)
    return bool(variant.program or not variant.changes or any(special))


def new_words(page: Path, variant: Variant) -> set[str] | None:
    """The names in the code of the answer that the exercise does not have. None where the exercise has no place
    for the code, as the answer's test will say."""
    try:
        files = with_answer(source_of(page), variant)
    except LabError:
        return None
    known = "".join(path.read_text(encoding="utf-8") for path in files)
    code = "\n".join(change.lines + (change.parts["by"] or "") for change in variant.changes)
    names = re.findall(r"[A-Za-z_]\w*", re.sub(r'//.*|"[^"\n]*"', "", code))
    return {*names} - {*re.findall(r"\w+", known)}


def with_other(page: Path, one: Variant, other: Variant) -> Variant | None:
    """Both answers in one; None where their changes meet, another compiler takes them, or only one is meant to
    be right."""
    if one.architecture != other.architecture:
        return None
    if one.is_meant_to_be_right != other.is_meant_to_be_right:
        return None
    both = replace(one, changes=[*one.changes, *other.changes])
    try:
        with_answer(source_of(page), both)
    except LabError:
        return None
    return both


def together(page: Path, variants: list[Variant]) -> Iterator[tuple[Variant, list[Variant]]]:
    """Each answer once: those with which it can be compiled, all in one and one by one. No two of them have a
    new name in common: so none needs what another one has. Two variants of an answer are never together."""
    groups: list[tuple[Variant, list[Variant], set[str]]] = []
    for variant in variants:
        own = None if stands_alone(variant) else new_words(page, variant)
        if own is None:
            yield variant, [variant]
            continue
        for number, (whole, parts, names) in enumerate(groups):
            apart = names.isdisjoint(own) and all(part.answer != variant.answer for part in parts)
            both = with_other(page, whole, variant) if apart else None
            if both:
                groups[number] = both, [*parts, variant], names | own
                break
        else:
            groups.append((variant, [variant], own))
    yield from ((whole, parts) for whole, parts, _ in groups)


def title(page: Path, parts: list[Variant]) -> str:
    """It names the chapter, the exercise and the answers."""
    titles = ", ".join(part.title for part in parts)
    return f"{page.parents[1].name}-{page.parent.name}-{titles}"


GROUPS = [
    pytest.param(page, whole, parts, id=title(page, parts))
    for page, variants in answers().items()
    for whole, parts in together(page, variants)
]


@pytest.mark.parametrize(("page", "whole", "parts"), GROUPS)
def test_answers_do_what_the_page_says(
    page: Path,
    whole: Variant,
    parts: list[Variant],
    request: pytest.FixtureRequest,
    tmp_path: Path,
) -> None:
    compiler = None if whole.architecture else request.getfixturevalue("compiler")
    if len(parts) > 1:
        try:
            with mock.patch.object(program, "CPU_SECONDS", MOST_SECONDS):
                try_answers(page, whole, parts, compiler, tmp_path / "together")
            return
        except AssertionError as error:
            print(f"not together: {error}")
    for number, part in enumerate(parts):
        try_answers(page, part, [part], compiler, tmp_path / f"alone{number}")


def try_answers(
    page: Path, whole: Variant, parts: list[Variant], compiler: Compiler | None, folder: Path
) -> None:
    """AssertionError where the code of `whole` does not do what all of its parts say. Without a compiler of the
    cpu back end, nvcc compiles it."""
    folder.mkdir()
    source = written(page, whole, folder)
    if not compiler:
        compile_with_nvcc(source, whole.architecture)
        return
    compiled = compiler.program(source, folder / "program", "-w")
    if whole.is_meant_to_be_right:
        for kind, name, outcome in outcomes(page, compiled):
            assert not outcome.problem, f"{kind}: {name}: {outcome.printed}\n{outcome.problem}"
    for part in parts:
        assert part.runs, f"{page.parent.name}, {part.title}: no <!-- run: OPTIONS -->"
        for run in part.runs:
            try_out([str(compiled), *shlex.split(run.options)], run, bool(whole.program))


def compile_with_nvcc(source: Path, architecture: str) -> None:
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if not nvcc:
        pytest.skip("no nvcc")
    target = f"arch=compute_{architecture},code=sm_{architecture}"
    command = [nvcc, "-std=c++17", "-gencode", target, "-Werror", "all-warnings"]
    include = ["-I", str(ROOT / "common")]
    done = subprocess.run([*command, *include, "-c", str(source), "-o", f"{source}.o"])
    assert done.returncode == 0, f"{source} does not compile"


def try_out(command: list[str], run: Run, prints_all: bool) -> None:
    """AssertionError where `command` does something else than `run` says."""
    environment = {"CUDA_EMULATOR_SMS": run.multiprocessors} if run.multiprocessors else {}
    done, findings = program.run_noting(command, "CUDA_EMULATOR_CHECK", environment)
    assert done.returncode == run.status, done.stdout + done.stderr
    printed = words(done.stdout)
    if prints_all:
        assert printed == " ".join(run.prints)
    for text in run.prints:
        assert text in printed
    assert (run.finds or CLEAN) in words(findings)
    if run.counts:
        launches = parse(
            program.run_noting(command, "CUDA_EMULATOR_PROFILE", environment)[1]
        ).launches
        for metric, values in run.counts.items():
            name = metrics.load().metrics[metric].nsight
            counted = [launch.values.get(name, 0) for launch in launches]
            assert (counted if len(values) > 1 else [sum(counted)]) == values, metric
