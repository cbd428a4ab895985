"""The facts of an exercise: exercise.toml beside NAME.cu.

order             place in the list of the chapter, in steps of ten
idea              what the exercise is about, for the list on the chapter's page
gpu_only          true where it needs hardware that the cpu back end does not have: it is not built there
rdc               true where it needs relocatable device code (dynamic parallelism)
libraries         CMake targets to link where the toolkit has them: CUDA::cublas also defines
                  LAB_HAVE_CUBLAS
architectures     with gpu_only: what it is compiled for, in place of CMAKE_CUDA_ARCHITECTURES; "80+":
                  those of CMAKE_CUDA_ARCHITECTURES that are 80 or more, or 80
[tests]           what ctest runs
runs              options that must give correct rows, the first ones small: the options that every
                  exercise has (--csv, --profile ...) are tested with it. With --csv, the numbers of the
                  rows are compared with the formulas below: let the first one have no two sizes that
                  are equal
slow_runs         further ones that take more than some seconds on the cpu back end: ./lab test --all
                  runs them
[tests.prints]    options, and a regex or a list of them, for each of which the output of a run with
                  these options has a match (^ and $ are those of a line); the run ends with status 0
[tests.prints_on_cpu] the same on the cpu back end alone, whose numbers are known
[tests.prints_on_gpu] the same on a GPU alone
[tests.prints_per_thread] the same of the source as `nvcc --default-stream per-thread` compiles it
[tests.rejects]   options that must end with status 2 and one line on stderr that matches the regex
[tests.fails]     options that must end with status 1 and a last line on stderr that matches the regex
[tests.hazards]   options, and how many hazards the hazard check finds with them: hazards or, where
                  there are none and their number matters, launches; by default it must find none with a few of the runs. Each
                  kernel is launched once (--profile), but where there is a --reps. Those of the first
                  entry are there on purpose: ./lab check says so
[profile]
metrics           what ./lab profile shows unless --metrics says otherwise; without it, what it
                  shows of a program of one's own
story             those of them, or others, that ./lab run shows without a GPU, at most four of the
                  cpu back end's; by default the first of `metrics` that are not the same for all
                  rungs. An empty list, where no count tells the story: then it shows the first
                  table of the page
[bench]
runs              what ./lab bench runs on a GPU: options of a run; or { options = "...", gib = N }
                  where the GPU needs N GiB of memory, without which the run is left out
files             options that take the name of a further CSV file: "timeline" gives
                  timeline.csv
images            what a further run on a GPU draws: options of that run, and files, options that take
                  the name of a PGM or PPM image: "map" gives map.pgm, or map.ppm if it has colours
debug             true where metrics.csv is to have the debug build (-G), too, which keeps
                  every branch
[work]            what the numbers of a row stand for, as the page states it: the ctest case with --csv
                  computes them from this
bytes, flops      formula of what gbps or gflops counts in a row; without it the row has no rate
baselines         kernels with whose first row the speed-up begins anew (default: the first that is
                  timed)
per               column: the speed-up begins anew where it changes, too
[figures.FIGURE]  ./lab plot draws results/<gpu>/FIGURE.svg in the exercise's folder; of the chart "warps", which
                  the cpu back end counts, results/FIGURE.svg from results/warps.csv
chart             one of CHARTS; its own keys are explained at its class in results/plots/
title             goes behind the exercise's name; {column} is the value in the first row
source            "timeline": rows of timeline.csv instead of table.csv; of the chart "image", which has
                  no rows, "map": map.pgm, or map.ppm with colour = true
where             only rows with these values, or with one of a list of values; the words of the
                  column parameters count as columns
largest           only the rows with the largest value of this column
rows_of           another exercise, whose rows are shown in place of those of this one
also              names of other exercises whose rows are shown, too
placed            kernels of this or other exercises, each a table: exercise; kernel and where, the row of
                  its results; profiled, the kernel's name in its metrics.csv; operations, a formula of
                  them, where the row has no gflops; moved, a formula of the bytes that it moved, of columns
                  of its metrics.csv (default: those of device memory, dram_read_bytes and
                  dram_write_bytes); label, what the figure calls it in place of `kernel`. They are further
                  rows, with intensity and gflops. A kernel without these columns is left out
[columns]         the exercise's own columns in the tables of the pages, each with title (default:
                  its name), format (of Python's format(), for numbers) or text = true (words);
                  formula: what the number must be; most, least: what it must not be above, or
                  below; gpu = true where an emulation leaves it empty
[[broken]]        a change of the source for the worse. A test makes all of a round in a copy, and
                  runs it: the rows that they name must be WRONG, and all others right
round             1 (default), 2 ...: for another way to break what is broken already
options           of the run of this round (default: the first of runs)
replace, by       a text that stands in the source exactly once, and what takes its place
file              where it stands, if not in NAME.cu: the name of a header beside it, of its chapter or of
                  common/
wrong             the rows: each a kernel, or a table of columns and values,
                  { kernel = "...", size = 1 }; the words of the column parameters count as columns.
                  Empty for a change that is within what a check must allow
[faults]          a test lets each launch and each copy to the host go wrong, with the first of runs: the
                  row's check must notice
timings           but for the copies of these numbers, from 0: of times, which no check knows
harmless          and for these: "launch 3", "refused 3" (a launch that fails; of each statement one is
                  tried), "copy 0", or "copy 0 6" for one byte
[counts]          the counts of the cpu profiler are compared with those that ncu read on a GPU,
                  results/h200/counts.*.csv in the exercise's folder
options           with which ncu ran it (and --profile)
options_on_cpu    in addition, where it runs on the cpu back end
[[counts.differences]] where another count is expected than tests/emulator/profiler/expected_counts.py says
                  of all: of these kernels and counts, regular expressions; now, what is expected
                  instead; the reason; makers, the compiler and processor with which alone it is there
[[assignment]]    what a student writes, and what counts: assignments.py
[hints]           hints on tasks of the page, by their numbers, for ./lab hint NAME TASK

A formula is a text of numbers, names, + - * / // % **, min(), max() and ceil(); it names options of the
column `parameters` and other columns. Where kernels differ it is a table of formulas by kernel, "others"
being all that it does not name; a kernel without one has an empty cell.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import assignments, metrics, toml_file
from .assignments import Assignment
from .errors import LabError
from .formula import Formula
from .toml_file import FLAG, LIST, NUMBER, TABLE, TEXT, TEXTS, WHOLE, Rule, checked, tables_of

ODD = re.compile(r"=[0-9x]+[13579]( |$)")


NO_LAUNCH = "^no kernel was launched: nothing was looked at$"


@dataclass(frozen=True)
class Hazards:
    """What the hazard check finds with these options."""

    options: str
    hazards: int
    launches: int | None = None  # None: any number

    @property
    def exactly(self) -> str:
        """A regex of the last line of the report."""
        if self.launches == 0:
            return NO_LAUNCH
        if self.hazards:
            return rf"^{self.hazards} hazards? found$"
        launches = "[0-9,]+" if self.launches is None else f"{self.launches:,}"
        return rf"^no hazards found \({launches} kernel launch"

    @property
    def at_most(self) -> str:
        """The same, whatever was launched, where it finds no more than these."""
        numbers = "|".join(map(str, range(1, self.hazards + 1)))
        some = rf"^({numbers}) hazards? found$|" if numbers else ""
        return rf"{some}^no hazards found \(|{NO_LAUNCH}"


@dataclass(frozen=True)
class Cases:
    """What ctest runs: each option string with the regexes that must match."""

    PRINTS = ("prints", "prints_on_cpu", "prints_on_gpu", "prints_per_thread")
    KINDS = (*PRINTS, "rejects", "fails")
    runs: list[str]
    matches: dict[str, dict[str, list[str]]]  # by kind and options
    hazards: list[Hazards]
    slow_runs: list[str] = field(default_factory=list)

    @property
    def small_runs(self) -> list[str]:
        """The small run, which is the first, and the first odd one, of two digits or more."""
        small, *others = self.runs
        return [small, *[run for run in others if ODD.search(run)][:1]]


@dataclass(frozen=True)
class Run:
    """Options with which ./lab bench runs the exercise."""

    options: list[str]
    gib: float = 0  # of GPU memory that it needs

    @property
    def text(self) -> str:
        return shlex.join(self.options) or "(defaults)"


@dataclass(frozen=True)
class Images:
    """The run that writes images, and the options that name them."""

    run: Run
    files: list[str]


@dataclass(frozen=True)
class Plan:
    """What ./lab bench measures."""

    runs: list[Run]
    files: list[str] = field(default_factory=list)
    debug: bool = False
    images: Images | None = None


@dataclass(frozen=True)
class Formulas:
    """By kernel; OTHERS for those that have none of their own."""

    OTHERS = "others"
    by_kernel: dict[str, Formula] = field(default_factory=dict)

    def of(self, kernel: str) -> Formula | None:
        return self.by_kernel.get(kernel, self.by_kernel.get(self.OTHERS))


@dataclass(frozen=True)
class Work:
    """What the numbers of a row stand for."""

    bytes: Formulas = Formulas()
    flops: Formulas = Formulas()
    baselines: list[str] = field(default_factory=list)
    per: str = ""


@dataclass(frozen=True)
class Column:
    """How tables of the pages show a column of a results file, and what its numbers must be."""

    title: str = ""
    format: str = ""
    text: bool = False
    gpu: bool = False
    formula: Formulas = Formulas()
    most: Formulas = Formulas()
    least: Formulas = Formulas()


@dataclass(frozen=True)
class Broken:
    """A change of the source that makes rows wrong."""

    replace: str
    by: str
    wrong: list[dict[str, str]]  # columns and values of each row
    file: str = ""  # "": NAME.cu
    round: int = 1
    options: str = ""


@dataclass(frozen=True)
class Counts:
    """How the counts of the cpu profiler compare with those of a GPU."""

    options: str = ""  # of the run; empty: nothing was recorded
    options_on_cpu: str = ""
    differences: list[dict[str, str]] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """The options of a run on the cpu back end."""
        return shlex.split(f"{self.options} {self.options_on_cpu}")


@dataclass(frozen=True)
class Facts:
    order: int
    bench: Plan
    tests: Cases
    idea: str = ""
    gpu_only: bool = False
    rdc: bool = False
    libraries: list[str] = field(default_factory=list)
    architectures: list[str] = field(default_factory=list)
    metrics: list[str] = field(default_factory=list)
    story: list[str] | None = None
    work: Work = Work()
    figures: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # by name, as the file has them
    columns: dict[str, Column] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    harmless: list[str] = field(default_factory=list)  # faults that no check need notice
    counts: Counts = Counts()
    assignments: list[Assignment] = field(default_factory=list)
    hints: dict[int, str] = field(default_factory=dict)  # by the number of the task

    @property
    def hazards(self) -> int:
        """How many ./lab check finds that are there on purpose."""
        return self.tests.hazards[0].hazards if self.tests.hazards else 0

    @property
    def prints_more_on_gpu(self) -> bool:
        """Whether its table has columns on a GPU alone, or exercise.toml says what it prints there."""
        in_gpu_columns = any(column.gpu for column in self.columns.values())
        return in_gpu_columns or bool(self.tests.matches["prints_on_gpu"])


_FILE = {
    "order": WHOLE,
    "idea": TEXT,
    "gpu_only": FLAG.or_nothing(),
    "rdc": FLAG.or_nothing(),
    "libraries": TEXTS.or_nothing(),
    "architectures": TEXTS.or_nothing(),
    "tests": TABLE,
    "profile": TABLE.or_nothing(),
    "bench": TABLE,
    "work": TABLE.or_nothing(),
    "figures": TABLE.or_nothing(),
    "columns": TABLE.or_nothing(),
    "broken": LIST.or_nothing(),
    "faults": TABLE.or_nothing(),
    "counts": TABLE.or_nothing(),
    "assignment": LIST.or_nothing(),
    "hints": TABLE.or_nothing(),
}
_TESTS = {
    "runs": TEXTS,
    "slow_runs": TEXTS.or_nothing(),
    "hazards": TABLE.or_nothing(),
    **{kind: TABLE.or_nothing() for kind in Cases.KINDS},
}
_HAZARDS = {"hazards": WHOLE, "launches": WHOLE.or_nothing()}
_PROFILE = {"metrics": TEXTS, "story": TEXTS.or_nothing()}
_BENCH = {
    "runs": LIST,
    "files": TEXTS.or_nothing(),
    "images": TABLE.or_nothing(),
    "debug": FLAG.or_nothing(),
}
_IMAGES = {"options": TEXT, "files": TEXTS}
_RUN = {"options": TEXT, "gib": NUMBER}
FORMULA = Rule(
    "a formula, or a table of them by kernel",
    lambda value: (
        isinstance(value, str)
        or (isinstance(value, dict) and all(isinstance(each, str) for each in value.values()))
    ),
    required=False,
)
_WORK = {
    "bytes": FORMULA,
    "flops": FORMULA,
    "baselines": TEXTS.or_nothing(),
    "per": TEXT.or_nothing(),
}
_COLUMN = {
    "title": TEXT.or_nothing(),
    "format": TEXT.or_nothing(),
    "text": FLAG.or_nothing(),
    "gpu": FLAG.or_nothing(),
    "formula": FORMULA,
    "most": FORMULA,
    "least": FORMULA,
}
_BROKEN = {
    "replace": TEXT,
    "by": TEXT,
    "wrong": LIST,
    "file": TEXT.or_nothing(),
    "round": WHOLE.or_nothing(),
    "options": TEXT.or_nothing(),
}

_DIFFERENCE = {
    "kernels": TEXT,
    "counts": TEXT,
    "now": TEXT,
    "reason": TEXT,
    "makers": TEXT.or_nothing(),
}
_COUNTS = {
    "options": TEXT,
    "options_on_cpu": TEXT.or_nothing(),
    "differences": tables_of(_DIFFERENCE).or_nothing(),
}
_FAULTS = {"timings": LIST.or_nothing(), "harmless": TEXTS.or_nothing()}

# The keys of each chart: the fields of its class in results/plots/.
CHARTS: dict[str, dict[str, Rule]] = {
    "ladder": {
        "value": TEXT,
        "panels": tables_of({"title": TEXT, "kernels": TEXTS}).or_nothing(),
        "peaks": TABLE.or_nothing(),
    },
    "curves": {
        "x": TEXT,
        "x_label": TEXT,
        "value": TEXT,
        "y_label": TEXT.or_nothing(),
        "log": FLAG.or_nothing(),
        "linear": FLAG.or_nothing(),
        "bottom": NUMBER.or_nothing(),
        "line": TEXT.or_nothing(),
        "line_label": TEXT.or_nothing(),
        "law": TEXT.or_nothing(),
        "law_label": TEXT.or_nothing(),
        "peaks": TABLE.or_nothing(),
        "first_look": WHOLE.or_nothing(),
    },
    "heatmap": {"value": TEXT},
    "timeline": {
        "panel": TEXT,
        "lane": TEXT,
        "label": TEXT,
        "marked": TEXT.or_nothing(),
        "asked_ms": NUMBER.or_nothing(),
    },
    "waves": {"panel": TEXT, "panel_title": TEXT, "first_sm": WHOLE, "last_sm": WHOLE},
    "saturation": {
        "panels": tables_of({"kernel": TEXT, "title": TEXT, "x_label": TEXT}),
        "x": TEXT,
        "value": TEXT,
        "law": TEXT,
        "line": TEXT,
        "line_label": TEXT,
    },
    "predicted": {
        "panels": tables_of({"kernel": TEXT, "title": TEXT}),
        "x": TEXT,
        "x_label": TEXT,
        "value": TEXT,
        "value_label": TEXT,
        "predicted": TEXT,
        "predicted_label": TEXT,
        "label": TEXT,
    },
    "footprint": {"x": TEXT, "x_label": TEXT, "value": TEXT, "marks": TABLE},
    "roofline": {"curve": TEXT.or_nothing(), "measured": TABLE},
    "image": {
        "label": TEXT.or_nothing(),
        "top": TEXT.or_nothing(),
        "names": TEXTS.or_nothing(),
        "shades": FLAG.or_nothing(),
        "colour": FLAG.or_nothing(),
    },
    "warps": {
        "picture": toml_file.one_of(["divergence", "access", "banks"]),
        "panels": tables_of(
            {
                "title": TEXT,
                "kernel": TEXT,
                "options": TEXT.or_nothing(),
                "block": TEXT.or_nothing(),
                "warp": WHOLE.or_nothing(),
                "lines": TEXTS.or_nothing(),
                "most": WHOLE.or_nothing(),
                "code": TEXT.or_nothing(),
                "kind": TEXT.or_nothing(),
                "number": WHOLE.or_nothing(),
                "execution": WHOLE.or_nothing(),
            }
        ),
    },
}
# The keys of every figure.
FIGURE: dict[str, Rule] = {
    "chart": toml_file.one_of(CHARTS),
    "title": TEXT,
    "source": TEXT.or_nothing(),
    "where": TABLE.or_nothing(),
    "largest": TEXT.or_nothing(),
    "rows_of": TEXT.or_nothing(),
    "also": TEXTS.or_nothing(),
    "placed": tables_of(
        {
            "exercise": TEXT,
            "kernel": TEXT,
            "profiled": TEXT,
            "where": TABLE.or_nothing(),
            "operations": FORMULA,
            "moved": FORMULA,
            "label": TEXT.or_nothing(),
        }
    ).or_nothing(),
}


def load(path: Path) -> Facts:
    """The facts in `path`. LabError names the file, and in it each key that is wrong."""
    problems: list[str] = []
    file = checked(toml_file.load(path), _FILE, "", problems)
    profile = (
        checked(file["profile"], _PROFILE, "[profile] ", problems) if "profile" in file else {}
    )
    facts = Facts(
        order=file.get("order", 0),
        tests=_tests(file.get("tests", {"runs": [""]}), problems),
        idea=file.get("idea", ""),
        gpu_only=file.get("gpu_only", False),
        rdc=file.get("rdc", False),
        libraries=file.get("libraries", []),
        architectures=file.get("architectures", []),
        metrics=_metrics(profile, "metrics", problems) or [],
        story=_metrics(profile, "story", problems),
        bench=_plan(file.get("bench", {"runs": [""]}), problems),
        work=_work(file.get("work", {}), problems),
        figures=_figures(file.get("figures", {}), problems),
        columns=_columns(file.get("columns", {}), problems),
        broken=[
            _broken(entry, f"[[broken]], entry {number}: ", problems)
            for number, entry in enumerate(file.get("broken", []), 1)
        ],
        harmless=_harmless(file["faults"], problems) if "faults" in file else [],
        counts=Counts(**checked(file["counts"], _COUNTS, "[counts] ", problems))
        if "counts" in file
        else Counts(),
        assignments=assignments.of_file(
            file.get("assignment", []), problems, file.get("gpu_only", False)
        ),
        hints=_hints(file.get("hints", {}), problems),
    )
    toml_file.refuse(path, problems)
    return facts


def _tests(table: dict[str, Any], problems: list[str]) -> Cases:
    tests = checked(table, _TESTS, "[tests] ", problems)
    if tests.get("runs") == []:
        problems.append("[tests] runs is empty")
    matches = {
        kind: {
            options: _regexes(entry, f"[tests.{kind}] {options!r}: ", problems)
            for options, entry in tests.get(kind, {}).items()
        }
        for kind in Cases.KINDS
    }
    hazards = []
    for options, entry in tests.get("hazards", {}).items():
        place = f"[tests.hazards] {options!r}: "
        entry = checked(entry if isinstance(entry, dict) else {}, _HAZARDS, place, problems)
        found = Hazards(options, entry.get("hazards", 0), entry.get("launches"))
        if found.hazards and found.launches is not None:
            problems.append(f"{place}the report counts launches where there are no hazards alone")
        hazards.append(found)
    return Cases(tests.get("runs", []), matches, hazards, tests.get("slow_runs", []))


def _regexes(entry: Any, place: str, problems: list[str]) -> list[str]:
    texts = entry if isinstance(entry, list) else [entry]
    for text in texts:
        try:
            re.compile(text)
        except (TypeError, re.error) as error:
            problems.append(f"{place}{text!r}: expected a regular expression: {error}")
    return texts


def _metrics(table: dict[str, Any], key: str, problems: list[str]) -> list[str] | None:
    names = table.get(key)
    known = metrics.load()
    for name in names or []:
        try:
            known.find([name])
        except LabError as error:
            problems.append(f"[profile] {key}: {error}")
    return names


def _harmless(table: dict[str, Any], problems: list[str]) -> list[str]:
    table = checked(table, _FAULTS, "[faults] ", problems)
    timings = [f"copy {number}" for number in table.get("timings", [])]
    faults = [*timings, *table.get("harmless", [])]
    problems += [
        f'[faults] {fault}: expected "launch K", "refused K", "copy K" or "copy K BYTE"'
        for fault in faults
        if not re.fullmatch(r"(launch|refused) \d+|copy \d+( \d+)?", fault)
    ]
    return faults


def _hints(table: dict[str, Any], problems: list[str]) -> dict[int, str]:
    for task, hint in table.items():
        if not re.fullmatch(r"[1-9]\d*", task) or not TEXT.fits(hint):
            problems.append(f"[hints] {task} = {hint!r}: expected the number of a task, and a text")
    return {int(task): hint for task, hint in table.items() if task.isdecimal()}


def _plan(table: dict[str, Any], problems: list[str]) -> Plan:
    bench = checked(table, _BENCH, "[bench] ", problems)
    if bench.get("runs") == []:
        problems.append("[bench] runs is empty")
    runs = [
        _run(entry, f"[bench] runs, entry {number}: ", problems)
        for number, entry in enumerate(bench.get("runs", []), 1)
    ]
    images = _images(bench["images"], problems) if "images" in bench else None
    return Plan(runs, bench.get("files", []), bench.get("debug", False), images)


def _images(table: dict[str, Any], problems: list[str]) -> Images:
    place = "[bench.images] "
    entry = checked(table, _IMAGES, place, problems)
    return Images(_run(entry.get("options", ""), place, problems), entry.get("files", []))


def _run(entry: Any, place: str, problems: list[str]) -> Run:
    if isinstance(entry, dict):
        run = checked(entry, _RUN, place, problems)
    elif isinstance(entry, str):
        run = {"options": entry}
    else:
        problems.append(f"{place}{entry!r}: expected a text, or {{ options = '...', gib = N }}")
        run = {}
    try:
        return Run(shlex.split(run.get("options", "")), float(run.get("gib", 0)))
    except ValueError as error:
        problems.append(f"{place}{run['options']!r}: {error}")
        return Run([])


def _work(table: dict[str, Any], problems: list[str]) -> Work:
    work = checked(table, _WORK, "[work] ", problems)
    for name in ("bytes", "flops"):
        work[name] = _formulas(work.get(name, {}), f"[work] {name}: ", problems)
    return Work(**work)


def _formulas(entry: str | dict[str, str], place: str, problems: list[str]) -> Formulas:
    texts = {Formulas.OTHERS: entry} if isinstance(entry, str) else entry
    formulas = {}
    for kernel, text in texts.items():
        try:
            formulas[kernel] = Formula(text)
        except ValueError as error:
            problems.append(f"{place}{error}")
    return Formulas(formulas)


def _figures(tables: dict[str, Any], problems: list[str]) -> dict[str, dict[str, Any]]:
    for name, entry in tables.items():
        place = f"[figures.{name}] "
        if not isinstance(entry, dict):
            problems.append(f"{place}= {entry!r}: expected a table")
        elif entry.get("chart") in CHARTS:
            needed = {"source": TEXT} if entry["chart"] == "image" else {}
            checked(entry, {**FIGURE, **needed, **CHARTS[entry["chart"]]}, place, problems)
        else:  # which keys it may have is not known
            checked({"chart": entry.get("chart")}, {"chart": FIGURE["chart"]}, place, problems)
    return tables


def _columns(tables: dict[str, Any], problems: list[str]) -> dict[str, Column]:
    columns = {}
    for name, entry in tables.items():
        place = f"[columns] {name}: "
        if not isinstance(entry, dict):
            problems.append(f"{place}{entry!r}: expected a table, such as {{ title = '...' }}")
            continue
        keys = checked(entry, _COLUMN, place, problems)
        for key in ("formula", "most", "least"):
            keys[key] = _formulas(keys.get(key, {}), f"{place}{key}: ", problems)
        column = Column(**keys)
        try:
            format(1.5, column.format)
        except ValueError as error:
            problems.append(f"{place}format = {column.format!r}: {error}")
        columns[name] = column
    return columns


def _broken(entry: Any, place: str, problems: list[str]) -> Broken:
    table = entry if isinstance(entry, dict) else {}
    change = checked(table, _BROKEN, place, problems)
    rows: list[dict[str, str]] = []
    for row in change.get("wrong", []):
        if isinstance(row, str):
            rows.append({"kernel": row})
        elif isinstance(row, dict) and row:
            rows.append({column: str(value) for column, value in row.items()})
        else:
            problems.append(f"{place}wrong: {row!r}: expected a kernel, or {{ column = value }}")
    if change.get("replace") in ("", change.get("by")):
        problems.append(f"{place}nothing is replaced")
    return Broken(
        change.get("replace", ""),
        change.get("by", ""),
        rows,
        change.get("file", ""),
        change.get("round", 1),
        change.get("options", ""),
    )
