"""A report with all that there can be in one, and texts that try to be more than text."""

from __future__ import annotations

from dataclasses import replace

from lab_cli.paths import ROOT
from lab_course.reporting import facts
from lab_course.reporting.facts import Program, Report
from lab_course.reporting.text import Text

HOSTILE = (
    "</pre></td><script>document.title = 'owned'</script><b onclick=x>&amp;\"'{{ 7 * 7 }}{% if %}"
)
REFERENCE = facts.Reference("rows=16K cols=16K tile=8", "tile=8", 0.5, 4281.0, "GB/s", 88.9)


def columns(*names: str) -> list[facts.Column]:
    return [facts.Column(name, name, name == "median_ms") for name in names]


def row(kernel: str, milliseconds: float | None, check: str, reference=None) -> facts.Row:
    cells = {"kernel": kernel, "median_ms": milliseconds, "check": check}
    shown = {**cells, "median_ms": "" if milliseconds is None else f"{milliseconds:#.4g}"}
    return facts.Row(cells, shown, reference)


TABLE = facts.Table(
    "CPU emulation of sm_90 (a CPU)",
    "rows=512",
    columns("kernel", "median_ms", "check"),
    [
        row("copy", 0.25, "ok", REFERENCE),
        row(HOSTILE, 30.0, "WRONG"),
        row("slow", 4.0, "ok", replace(REFERENCE, median_ms=None, rate=None, percent_peak=None)),
        row("host", None, "lucky"),
    ],
    3,
    "NVIDIA H200",
    "rows=16K cols=16K",
)
EXERCISE = Program(
    "transpose",
    "exercise",
    ["transpose.cu"],
    facts.Run(facts.WRONG, "", 1, TABLE, Text(HOSTILE)),
    facts.Check(facts.HAZARDS, "", "1 hazard found", Text(f"1. race\n{HOSTILE}\n\n1 hazard found")),
    facts.Metrics(
        "",
        "cpu back end: counted in an emulation",
        ["not available without a GPU: duration"],
        [
            facts.Metric("gld_efficiency", "%", "different bytes", "higher"),
            facts.Metric("divergent_branch", "", "branches in which a warp split", "lower"),
            facts.Metric("dram__x.sum", "", "", "neither"),
        ],
        [
            facts.Launch("k<1>", "16x16", "32x8", [100.0, 3.0, None], ["100.00", "3", "n/a"]),
            facts.Launch("k<4>", "1", "32", [12.5, 20.0, "text"], ["12.50", "20", "text"]),
        ],
        2,
        [facts.WorstLine("k<4>", "1", "32", "transpose.cu", 42, HOSTILE, "takes 28 of 32 sectors.")],
        [facts.Differs("k", "slow", ["sectors per load 32 -> 4 (better)", HOSTILE])],
    ),
    "ch04_memory",
    "Transposes a matrix & more.",
    "ch04_memory/transpose/README.md",
    facts.Tests(
        facts.FAILED,
        "",
        [facts.Count("results", 3, 2, 0), facts.Count("counts", 0, 0, 1)],
        [
            facts.Case("transpose --rows=3", "results", Text(HOSTILE, 12)),
            facts.Case("transpose --rows=4", "results", Text("", 400)),
        ],
        5,
        ["tests of hazards are left out"],
    ),
    facts.Figures(
        "",
        [
            facts.Figure(path.stem, str(path.relative_to(ROOT)), "NVIDIA H200", "2026-11-22", False, path.stem)
            for path in sorted(ROOT.glob("*/*/results/h200/*.svg"))[:2]
        ],
    ),
    facts.Changes("", "the tag handout (abc)", [facts.Change("ch04_memory/transpose/transpose.cu", Text(
        f"--- shipped\n+++ yours\n@@ -1 +1 @@\n same\n-old\n+{HOSTILE}"))]),
)  # fmt: skip
OWN = Program(
    "mine.cu",
    "own",
    ["mine.cu"],
    facts.Run(facts.LATE, "had not ended after 3 seconds", 143, None, Text(HOSTILE)),
    facts.Check(facts.NOT_KNOWN, "cannot be built with zig's compiler\n\n    ./lab doctor"),
    facts.Metrics("this user may not read the counters", printed=Text("what it printed")),
)
MISSING = Program(
    "wgmma",
    "exercise",
    ["wgmma.cu"],
    facts.Run(facts.NOT_KNOWN, "only on the gpu back end"),
    facts.Check(facts.OK, "", "no hazards found (3 kernel launches, 2 copies)"),
    facts.Metrics("only on the gpu back end"),
    "ch09",
    "",
    "ch09/wgmma/README.md",
    facts.Tests(facts.NOT_KNOWN, "only on the gpu back end"),
    facts.Figures("this exercise has no figures"),
    facts.Changes("git is not installed"),
)
MACHINE = {"back end": "cpu", "GPU": "none, CPU emulation on a CPU", "commit": "abc"}
REPORT = Report(
    "2026-11-26 08:00 UTC", "cpu", True, MACHINE, ["--rows=3", HOSTILE], [EXERCISE, MISSING, OWN]
)


def of(*programs: Program, backend: str = "cpu") -> Report:
    return replace(
        REPORT, programs=[*programs], backend=backend, emulated=backend == "cpu", options=[]
    )
