"""What a report says: the same facts for its page and for its JSON, which report.schema.json describes.

A part that could not be had has a `problem` that says why, and the rest of it is empty. The words of
`verdict` are those below.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Union

from lab_cli.errors import BAD_USAGE

from .text import Text

SCHEMA = "lab-report/1"  # changes when a field changes its meaning, or goes

OK = "ok"
WRONG = "WRONG"  # a result
FAILED = "failed"  # a program, a compiler or a test
HAZARDS = "hazards"  # some were found
LATE = "late"  # ended for its time limit
REFUSED = "refused"  # the program does not take the options
NOT_KNOWN = "not known"  # this could not be looked at
BAD = (WRONG, FAILED, HAZARDS, LATE)

Cell = Union[float, str, None]


@dataclass(frozen=True)
class Reference:
    """A row that was measured on the GPU of the reference: of the same kernel, in its largest run."""

    parameters: str
    shown: str  # of them, for people: what neither all references nor the row beside it have
    median_ms: float | None
    rate: float | None
    unit: str  # of the rate
    percent_peak: float | None


@dataclass(frozen=True)
class Column:
    name: str  # as in the CSV
    title: str
    numeric: bool


@dataclass(frozen=True)
class Row:
    cells: dict[str, Cell]  # by the name of the column
    shown: dict[str, str]  # the same for people, of the columns that are shown
    reference: Reference | None = None


@dataclass(frozen=True)
class Table:
    device: str
    parameters: str  # that all rows have in common
    columns: list[Column]  # that are shown
    rows: list[Row]
    rows_left_out: int = 0
    reference_gpu: str = ""  # where the references were measured; empty where no row has one
    reference_parameters: str = ""  # that all of them have in common


@dataclass(frozen=True)
class Run:
    verdict: str
    problem: str = ""
    status: int | None = None  # exit status
    table: Table | None = None
    printed: Text = Text("")


@dataclass(frozen=True)
class Case:
    name: str
    about: str
    printed: Text


@dataclass(frozen=True)
class Count:
    about: str  # results, hazards, counts or options
    passed: int
    failed: int
    skipped: int


@dataclass(frozen=True)
class Tests:
    verdict: str
    problem: str = ""
    counts: list[Count] = field(default_factory=list)
    failed: list[Case] = field(default_factory=list)
    failed_left_out: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Check:
    verdict: str
    problem: str = ""
    summary: str = ""  # the last line of the findings
    findings: Text = Text("")
    printed: Text = Text("")  # where the program failed
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    meaning: str
    better: str  # higher, lower or neither


@dataclass(frozen=True)
class Launch:
    kernel: str
    grid: str
    block: str
    values: list[Cell]  # one for each metric
    shown: list[str]


@dataclass(frozen=True)
class WorstLine:
    """The line of a kernel that costs most in vain."""

    kernel: str
    grid: str
    block: str
    file: str
    line: int
    source: str  # its text
    words: str  # what it costs


@dataclass(frozen=True)
class Differs:
    """How the counts of an assignment's kernel differ from those of the kernel before it."""

    kernel: str
    before: str
    words: list[str]  # what matters most first


@dataclass(frozen=True)
class Metrics:
    problem: str = ""
    source: str = ""
    notes: list[str] = field(default_factory=list)
    metrics: list[Metric] = field(default_factory=list)
    launches: list[Launch] = field(default_factory=list)
    launches_left_out: int = 0
    worst_lines: list[WorstLine] = field(default_factory=list)  # of kernels that have one
    differs: list[Differs] = field(default_factory=list)  # of kernels of assignments
    printed: Text = Text("")


@dataclass(frozen=True)
class Figure:
    name: str
    file: str  # as seen from the checkout
    gpu: str
    date: str
    this_machine: bool  # measured on a GPU like this machine's, and not on that of the reference
    text: str  # what is to be seen, for those who do not see it


@dataclass(frozen=True)
class Figures:
    problem: str = ""
    figures: list[Figure] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    file: str
    diff: Text


@dataclass(frozen=True)
class Changes:
    problem: str = ""
    base: str = ""  # what the sources are compared with, in words
    files: list[Change] = field(default_factory=list)  # those that differ


@dataclass(frozen=True)
class Program:
    name: str
    kind: str  # exercise, or own
    sources: list[str]
    run: Run
    check: Check
    metrics: Metrics
    chapter: str = ""
    sentence: str = ""
    page: str = ""
    # Of an exercise alone.
    tests: Tests | None = None
    figures: Figures | None = None
    changes: Changes | None = None

    @property
    def verdicts(self) -> list[str]:
        return [self.run.verdict, self.check.verdict, *([self.tests.verdict] if self.tests else [])]


@dataclass(frozen=True)
class Report:
    created: str  # date and time, UTC
    backend: str
    emulated: bool  # then no time in it was measured on a GPU
    machine: dict[str, str]
    options: list[str]
    programs: list[Program]

    @property
    def status(self) -> int:
        """The exit status. What could not be looked at for a reason of the machine's is named, and is no
        failure; but for a program that was not run."""
        verdicts = [verdict for program in self.programs for verdict in program.verdicts]
        if any(verdict in BAD for verdict in verdicts):
            return 1
        if REFUSED in verdicts:
            return BAD_USAGE
        return int(any(program.run.verdict == NOT_KNOWN for program in self.programs))

    def as_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, "status": self.status, **_without_shown(asdict(self))}


def _without_shown(value: Any) -> Any:
    """What is for people alone is the page's."""
    if isinstance(value, dict):
        return {key: _without_shown(item) for key, item in value.items() if key != "shown"}
    return [_without_shown(item) for item in value] if isinstance(value, list) else value
