"""An assignment, an exercise for it, and a workshop that builds nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from lab_cli import assignments, catalogue, toml_file
from lab_cli.assignments import Assignment
from lab_cli.catalogue import Exercise
from lab_cli.counters.raw_csv import Launch, RawTable
from lab_course.grading.programs import CHECK, PROFILE, TIMES, Failed, Run

SOURCE = """\
#include "lab.cuh"

constexpr unsigned kBlock = 64;

// Wrong order.
__global__ void before(const float* in, float* out) {
    out[threadIdx.x * 2] = in[threadIdx.x];
}

// Right order.
__global__ void better(const float* in, float* out) {
    out[threadIdx.x] = in[threadIdx.x];
}

lab::Exercise exercise("order", "About order.");
"""
ASSIGNMENT = """
[[assignment]]
name = "putInOrder"
sentence = "Write in order."
stars = 1
kernels = ["better"]
before = "before"
hints = ["Look.", "Think.", "Write."]
sizes = ["--size=10", "--size=33"]
check = "--size=10"
bounds = [{ count = "gst_efficiency >= 95 %", options = "--size=64", goal = true }]
"""
# As a reader of TOML has it.
ENTRY = toml_file.tomllib.loads(ASSIGNMENT)["assignment"][0]
# Of an exercise that runs on a GPU alone.
SPEED = {"of": "before", "least": 2.0, "options": "--size=1M"}
ENTRY_ON_GPU = {
    **{key: ENTRY[key] for key in ENTRY if key not in ("check", "bounds")},
    "speed": SPEED,
}
ASSIGNMENT_ON_GPU = (
    ASSIGNMENT[: ASSIGNMENT.index("check")]
    + '[assignment.speed]\nof = "before"\nleast = 2.0\noptions = "--size=1M"\n'
)
EFFICIENCY = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"
SILENT = "no hazards found (2 kernel launches, 2 copies)"


def assignment(**changes: object) -> Assignment:
    problems: list[str] = []
    found = assignments.of_file([{**ENTRY, **changes}], problems)
    assert not problems
    return found[0]


def assignment_on_gpu(**changes: object) -> Assignment:
    problems: list[str] = []
    found = assignments.of_file([{**ENTRY_ON_GPU, **changes}], problems, gpu_only=True)
    assert not problems
    return found[0]


def row(kernel: str, check: str = "ok", parameters: str = "size=10") -> dict[str, str]:
    return {
        "parameters": parameters,
        "kernel": kernel,
        "grid": "1",
        "block": "64",
        "check": check,
    }


def counted(*efficiencies: float | None, kernel: str = "better<64>") -> RawTable:
    launches = [Launch(kernel, "1", "64", "0", {EFFICIENCY: each}) for each in efficiencies]
    return RawTable(
        {EFFICIENCY: "%"}, [Launch("before", "1", "64", "0", {EFFICIENCY: 5}), *launches]
    )


GOOD_ROWS = [row("before"), row("better")]


@dataclass
class FakeWorkshop:
    """Runs come from `runs`, by options and variable; `built` keeps what was to be compiled."""

    exercise: Exercise
    runs: dict[tuple[str, str], Run | Failed] = field(default_factory=dict)
    does_not_compile: str = ""
    built: list[str] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    gpu: str | None = None

    def build(self, text: str, folder: Path, purpose: str) -> Path:
        if self.does_not_compile:
            raise Failed(self.does_not_compile)
        self.built.append(text)
        return folder / f"for {purpose}"

    def compile(self, source: Path, folder: Path, purpose: str) -> Path:
        return self.build(source.read_text(encoding="utf-8"), folder, purpose)

    def run(self, program: Path, options: str, purpose: str) -> Run:
        on_gpu = purpose == TIMES or self.exercise.facts.gpu_only
        assert program.name == f"for {TIMES if on_gpu else CHECK}"
        self.asked.append((options, purpose))
        run = self.runs.get((options, purpose)) or good(purpose)
        if isinstance(run, Failed):
            raise run
        return run


def good(purpose: str) -> Run:
    if purpose == CHECK:
        return Run(GOOD_ROWS, report=SILENT)
    return Run(GOOD_ROWS, counts=counted(100.0) if purpose == PROFILE else None)


def exercise_at(place: Path) -> Exercise:
    """In the checkout of the fixture `exercises`."""
    place.write_text(SOURCE, encoding="utf-8")
    return catalogue.one(place.stem)
