"""What ./lab profile --explain says of the causes that were found."""

from __future__ import annotations

from collections.abc import Sequence

from ..counters.explanation import ByLine, Counted, Launch, Sentence
from ..counters.metric_table import MetricTable
from ..lines.model import LineProfile
from . import ranking
from .finding import Finding
from .ranking import Diagnosed
from .source.resources import Resources
from .source_lines import name, text


def by_line(
    profile: LineProfile,
    table: MetricTable,
    small: bool = False,
    known: Sequence[Resources] = (),
) -> ByLine:
    """The sentences on each kernel, the most important first, and those on the host's code. `small`
    and `known` are those of ranking.of_kernels()."""
    found = ranking.of_kernels(profile, _active(table), small, known)
    return ByLine(
        list(map(_of_kernel, found)),
        [] if small else list(map(sentence, ranking.of_host(profile))),
        bool(known),
    )


def _active(table: MetricTable) -> dict[Launch, float]:
    """Of several launches, that of the first."""
    found: dict[Launch, float] = {}
    for row in table.rows:
        for metric, value in zip(table.metrics, row.values):
            if metric.name == "warp_execution_efficiency" and isinstance(value, float):
                found.setdefault((row.kernel, row.grid, row.block), value / 100)
    return found


def _of_kernel(diagnosed: Diagnosed) -> Counted:
    kernel = diagnosed.kernel
    found = list(map(sentence, [*diagnosed.findings, *diagnosed.hints]))
    return Counted(ranking.launch(kernel), kernel.launches, found)


def sentence(finding: Finding) -> Sentence:
    title = f"perhaps {finding.symptom}" if finding.hint else finding.symptom
    place = finding.place
    return Sentence(
        f"{finding.says} {finding.gain}",
        finding.remedy,
        finding.exercises,
        title,
        name(place) if place else "",
        text(place) if place else "",
    )
