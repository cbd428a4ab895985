"""Beside what a GPU's totals point at: the lines, and what Nsight Compute estimates that a change
gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..counters import ncu, ncu_rules
from ..counters.collect import OnGpu
from ..counters.explanation import ByLine, Counted, Located
from ..errors import LabError
from ..lines import collect_gpu
from ..lines.collect_gpu import Report
from ..lines.model import GLOBAL, LOAD, SHARED, STORE, Access, Kernel, Place
from . import arithmetic, kernel_work, local_memory, ranking
from .finding import Finding
from .sentences import sentence
from .source import resources
from .source.resources import Resources
from .source_lines import name, text


def run(built: OnGpu, options: Sequence[str], timeout: float | None) -> Report:
    """Profiles the program, without the metrics that ncu does not have for this GPU."""
    metrics = built.nsight_names
    while True:
        try:
            return collect_gpu.run(built, metrics, options, timeout, ncu_rules.SECTIONS)
        except ncu.UnknownMetrics as error:
            metrics = ncu.without_unknown(metrics, error)


def by_line(built: OnGpu, report: Report, known: Sequence[Resources] = ()) -> ByLine:
    """Without lines where ncu has none for this program."""
    estimates = ncu_rules.parse(report.details)
    try:
        kernels = collect_gpu.profile_of(built, report).kernels
    except LabError:
        kernels = []
    counted = [
        Counted(
            ranking.launch(kernel), kernel.launches, list(map(sentence, _of_source(kernel, known)))
        )
        for kernel in kernels
    ]
    located = {ranking.launch(kernel): _located(kernel) for kernel in kernels}
    return ByLine(counted, located=located, estimates=estimates)


def _of_source(kernel: Kernel, known: Sequence[Resources]) -> list[Finding]:
    """What totals do not tell: it stands in the source."""
    of_kernel = kernel_work.measure(kernel)
    resources_of = resources.of_kernel(known, kernel.name)
    found = [
        *arithmetic.written_doubles(kernel),
        *local_memory.find(kernel, of_kernel, resources_of),
    ]
    return [finding for finding in found if not finding.hint]


def _located(kernel: Kernel) -> dict[str, Located]:
    """By symptom the line that has most of it."""
    lines = [line for line in kernel.lines.values() if line.divergent]
    split = max(lines, key=lambda line: line.divergent, default=None)
    places = {
        "uncoalesced loads": _most(kernel, GLOBAL, LOAD, lambda each: each.units - each.least),
        "uncoalesced stores": _most(kernel, GLOBAL, STORE, lambda each: each.units - each.least),
        "bank conflicts": _most(kernel, SHARED, "", lambda each: each.units - each.least),
        "divergence": split.place if split else None,
    }
    return {
        symptom: Located(name(place), text(place))
        for symptom, place in places.items()
        if place is not None
    }


def _most(kernel: Kernel, space: str, kind: str, excess: Callable[[Access], int]) -> Place | None:
    found = [
        access
        for access in kernel.accesses
        if access.space == space and kind in ("", access.kind) and excess(access) > 0
    ]
    return max(found, key=excess).place if found else None
