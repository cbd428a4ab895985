"""A comparison for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from ..words import wrapped
from . import sentences, timing
from .compared import Compared, Report
from .differences import BETTER, WORSE, Change
from .versions import Version

LABEL = 9  # characters of the first column
Paint = Callable[[str, str], str]  # a word, and its verdict

STYLES = {BETTER: "32", WORSE: "1;31"}


def plain(word: str, _: str) -> str:
    return word


def coloured(word: str, verdict: str) -> str:
    style = STYLES.get(verdict)
    return f"\x1b[{style}m{word}\x1b[0m" if style else word


def text(report: Report, width: int, paint: Paint = plain) -> str:
    """All pairs of versions, then what holds for all."""
    parts = [_of_pair(each, width, paint) for each in report.compared]
    if report.equal:
        parts.append(_wrapped(f"Equal in all counts: {', '.join(report.equal)}.", width))
    comparisons = [each.comparison for each in report.compared]
    below = [*sentences.notes(comparisons), report.source, *report.notes]
    parts.append("\n".join(_wrapped(note, width) for note in below))
    return "\n\n".join(parts) + "\n"


def _of_pair(compared: Compared, width: int, paint: Paint) -> str:
    comparison = compared.comparison
    parts = ["\n".join(_heading(*compared.versions, width))]
    if compared.timed:
        parts.append(_wrapped(sentences.capital(timing.in_words(compared.timed)) + ".", width))
    parts += of_differences(compared, width, paint)
    parts.append("\n".join(_wrapped(each, width) for each in sentences.summary(comparison)))
    if comparison.changed:
        parts.append(table(comparison.changed))
    return "\n\n".join(filter(None, parts))


def _heading(before: Version, after: Version, width: int) -> list[str]:
    names = sentences.names(before, after)
    wide = max(map(len, names))
    return [
        _wrapped(f"{label:<{LABEL}}{name:<{wide}}  {version.shape}", width, LABEL)
        for label, name, version in zip(("before", "after"), names, (before, after))
    ]


def of_differences(compared: Compared, width: int, paint: Paint = plain) -> list[str]:
    found = []
    for difference, culprits in zip(compared.comparison.differences, compared.culprits):
        verdict = difference.verdict
        first, *others = _wrapped(sentences.headline(difference), width - LABEL).split("\n")
        lines = [paint(verdict, verdict) + " " * (LABEL - len(verdict)) + first]
        lines += [" " * LABEL + line for line in others]
        told = [sentences.explanation(difference)]
        lines += [
            textwrap.indent(_wrapped(each, width - LABEL), " " * LABEL) for each in told if each
        ]
        for label, culprit in sentences.lines(culprits):
            place = f"{'':<{LABEL}}{label:<{LABEL - 2}}{sentences.line(culprit)}"
            lines.append(_cut(place, width))
        found.append("\n".join(lines))
    return found


def _cut(line: str, width: int) -> str:
    return line if len(line) <= width else line[: width - 4] + " ..."


def table(changes: Sequence[Change]) -> str:
    """The metrics that differ, under their names in metrics.toml."""
    rows = [("metric", "before", "after", "")]
    for each in changes:
        unit = f" {each.unit}" if each.unit else ""
        before, after = (number + unit for number in sentences.numbers(each))
        rows.append((each.metric, before, after, sentences.times(each)))
    wide = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        f"{a:<{wide[0]}}  {b:>{wide[1]}}  {c:>{wide[2]}}  {d}".rstrip() for a, b, c, d in rows
    )


def _wrapped(words: str, width: int, hanging: int = 0) -> str:
    return "\n".join(wrapped(words, max(width, 20), "", " " * hanging))
