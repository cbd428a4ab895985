"""`./lab profile --explain` names why the programs of causes/ are slow, and at which line, and finds nothing in
those that are as they should be. A comment in each says what it expects."""

import re
from pathlib import Path

import pytest
from lab_cli import metrics
from lab_cli.building import instrumented
from lab_cli.causes import sentences
from lab_cli.causes.source import resources
from lab_cli.counters import metric_table, raw_csv
from lab_cli.counters.collect import VARIABLE
from lab_cli.lines import recorded
from lab_cli.machine import backend
from lab_cli.paths import ROOT, shown

FOLDER = Path(__file__).parent / "causes"
ALL = FOLDER / "all.cu"
EXPECTED = re.compile(r"// expect: ([\w ]+?)(?:, line (\d+))?\n")
NOTHING, SPILLS = "nothing", "spills"
# What is expected, and a word of the finding's title.
TITLES = {
    "array of structs": "array of structs",
    "atomics": "atomics",
    "bank conflicts": "bank conflict",
    "divergent constant reads": "constant memory",
    "double literals": "double precision",
    "global accumulator": "accumulating",
    "integer divisions": "division",
    "local array": "local array",
    "misaligned": "misaligned",
    "missing tile": "many threads load",
    "pageable copies": "pageable",
    "shared atomics": "atomics",
    "small copies": "small copies",
    "synchronisation": "synchronisation",
    "tail effect": "tail effect",
    "thread parity": "parity",
    "tiny launches": "tiny launches",
    "too few blocks": "too few blocks",
    "uncoalesced": "uncoalesced",
}


def expectation(path):
    """The cause and its line; no line where it is about a launch as a whole."""
    found = EXPECTED.findall(path.read_text("utf-8"))
    assert len(found) == 1, f"{path.name} says what it expects in one line"
    cause, line = found[0]
    return cause, int(line or 0)


PROGRAMS = {path.stem: expectation(path) for path in sorted(FOLDER.glob("*.cu")) if path != ALL}
SLOW = [name for name, (cause, _) in PROGRAMS.items() if cause not in (NOTHING, SPILLS)]
RIGHT = [name for name, (cause, _) in PROGRAMS.items() if cause == NOTHING]
SPILLING = [name for name, (cause, _) in PROGRAMS.items() if cause == SPILLS]


@pytest.fixture
def found(build):
    """Of the program of this name: each finding's title, and FILE:LINE or nothing."""

    def explain(name):
        program = [str(build / "tests" / "causes"), name]
        outcome = instrumented.run(program, VARIABLE, recorded.VARIABLE)
        assert (outcome.status, outcome.output) == (0, "right\n")
        known = metrics.load()
        counted = [metric for metric in known.find(known.own) if metric.cpu]
        table = metric_table.build(raw_csv.parse(outcome.report), counted, "", [])
        explained = sentences.by_line(recorded.parse(outcome.others[0], "", ROOT), table)
        of_kernels = [sentence for kernel in explained.kernels for sentence in kernel.sentences]
        return [(sentence.title, sentence.where) for sentence in [*of_kernels, *explained.host]]

    return explain


def test_each_program_is_in_one():
    assert set(re.findall(r'#include "(\w+)\.cu"', ALL.read_text("utf-8"))) == set(PROGRAMS)
    assert {PROGRAMS[name][0] for name in SLOW} == set(TITLES)


@pytest.mark.parametrize("name", SLOW)
def test_the_cause_is_named(found, name):
    cause, line = PROGRAMS[name]
    where = f"{shown(FOLDER / name)}.cu:{line}" if line else ""
    assert [place for title, place in found(name) if TITLES[cause] in title and place == where]


@pytest.mark.parametrize("name", RIGHT)
def test_nothing_is_found(found, name):
    assert [title for title, _ in found(name) if not title.startswith("perhaps")] == []


@pytest.mark.parametrize("name", SPILLING)
def test_spills(name):
    if backend.find_nvcc() is None:
        pytest.skip("no nvcc")
    (kernel,) = resources.of_sources([str(FOLDER / f"{name}.cu")])
    assert kernel.spill_stores > 0 and kernel.spill_loads > 0
