"""./lab profile --explain: what its kernels cost, and why they are slow, in words."""

from __future__ import annotations

from collections.abc import Sequence

from .. import catalogue
from ..building import registers
from ..causes import sentences
from ..causes.source import resources
from ..counters import collect, diagnosis, explanation
from ..counters.metric_table import MetricTable
from ..lines.collect import collect as collect_lines


def explained(
    names: Sequence[str],
    backend: str,
    options: Sequence[str],
    timeout: float | None,
    wrong_too: bool,
    width: int,
) -> tuple[MetricTable, str]:
    """The table of an exercise or of the .cu files of a program, and the text; the arguments are those of
    counters.collect.collect(), and so are the errors."""
    asked = diagnosis.load().metrics(backend)
    if backend == "gpu":
        table = collect.collect(
            names, backend, False, asked, options, timeout, all_metrics=False, wrong_too=wrong_too
        )
        return table, explanation.text(table, backend, width)
    is_own = catalogue.at(*names) is None
    with registers.asked(names if is_own else []) as compiler:
        table, profile = collect_lines(names, backend, options, timeout, asked)
    if table.failure and not (wrong_too and table.rows):
        raise table.failure
    known = resources.read(compiler.printed())
    by_line = sentences.by_line(profile, table, small=not is_own, known=known)
    return table, explanation.text(table, backend, width, by_line)
