"""A comparison as a whole: runs what somebody asks for, and keeps what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..errors import LabError
from . import counting, culprits, differences, pairs, timing
from .asked import Asked
from .counting import Counted, TooLong
from .culprits import Culprits
from .differences import Comparison
from .pairs import Pair
from .timing import Timed, Times
from .versions import Version

PATIENCE = 60.0  # seconds that the cpu back end may count with the sizes that a GPU is timed with
OF_DEFAULTS = (
    f"The counts are those of the program without options: with them, the cpu back end had not counted after "
    f"{PATIENCE:.0f} seconds. The times are those with the options."
)
NO_TIMES = "Times are not known without a GPU: the counts do not say how much faster a version is."


@dataclass(frozen=True)
class Compared:
    """Two versions: what differs, which lines make each difference, and the times where there is a GPU."""

    comparison: Comparison
    culprits: Sequence[Culprits]  # one for each difference
    timed: Timed | None = None

    @property
    def versions(self) -> Pair:
        return self.comparison.before, self.comparison.after


@dataclass(frozen=True)
class Report:
    """What ./lab compare has to say."""

    compared: Sequence[Compared]  # what differs; with several pairs, what is equal is in `equal`
    equal: Sequence[
        str
    ]  # names of kernels all of whose counts are equal, and whose times do not differ
    source: str
    notes: Sequence[str] = field(default_factory=list)
    failures: Sequence[LabError] = field(default_factory=list)  # WRONG results


def of(asked: Asked, options: Sequence[str], timeout: float | None, backend: str) -> Report:
    """Builds and runs both versions. On the back end gpu they are timed, too."""
    counted = _counted(asked, options, timeout, backend)
    before, after = counted[0], counted[-1]
    found = pairs.of(asked, before, after)
    chosen = [_labelled(asked, pair) for pair in found.pairs]
    notes = [*found.notes, *dict.fromkeys(note for each in counted for note in each.notes)]
    times: Sequence[Timed | None] = [None] * len(chosen)
    if backend == "gpu":
        measured = _measured(asked, chosen, options, timeout)
        times = timed(chosen, measured)
        notes += _untimed(chosen, times)
    else:
        notes.append(NO_TIMES)
    return report(chosen, times, counted, notes)


def _counted(
    asked: Asked, options: Sequence[str], timeout: float | None, backend: str
) -> list[Counted]:
    """Sizes that are right for a GPU may take an emulation for ever. Then the counts are those of the defaults."""

    def counted(given: Sequence[str], seconds: float | None) -> list[Counted]:
        return [counting.count(each, given, seconds, backend) for each in asked.programs]

    if backend != "gpu" or not options:
        return counted(options, timeout)
    try:
        return counted(options, min(timeout or PATIENCE, PATIENCE))
    except TooLong:
        first, *others = counted([], timeout)
        return [replace(first, notes=[*first.notes, OF_DEFAULTS]), *others]


def report(
    chosen: Sequence[Pair],
    times: Sequence[Timed | None],
    counted: Sequence[Counted],
    notes: Sequence[str],
) -> Report:
    everything = [of_pair(*pair, timed) for pair, timed in zip(chosen, times)]
    differ = [each for each in everything if not _is_equal(each)]
    equal = [each for each in everything if _is_equal(each)]
    if len(everything) == 1:
        differ, equal = everything, []
    return Report(
        differ,
        [each.comparison.after.name for each in equal],
        counted[0].source,
        notes,
        [each.failure for each in counted if each.failure],
    )


def of_pair(before: Version, after: Version, timed: Timed | None = None) -> Compared:
    comparison = differences.compare(before, after)
    found = [culprits.of(each, before, after) for each in comparison.differences]
    return Compared(comparison, found, timed)


def _is_equal(compared: Compared) -> bool:
    return compared.comparison.is_equal and not (compared.timed and compared.timed.differ)


def _labelled(asked: Asked, pair: Pair) -> Pair:
    """With the words that tell both sides apart where they have the same name."""
    sides = (asked.before, asked.after)
    a, b = (replace(v, place=side.label or v.place) for v, side in zip(pair, sides))
    return a, b


def _measured(
    asked: Asked, chosen: Sequence[Pair], options: Sequence[str], timeout: float | None
) -> list[tuple[Times, Times]]:
    programs = (asked.before.program, asked.after.program)
    names = [list(dict.fromkeys(pair[side].key[0] for pair in chosen)) for side in (0, 1)]
    return timing.measure(programs, names, options, timeout)


def timed(chosen: Sequence[Pair], measured: Sequence[tuple[Times, Times]]) -> list[Timed | None]:
    """The times of each pair of versions, judged together; None where a version has none."""
    values = [_values(pair, measured) for pair in chosen]
    judged = iter(timing.judged([each for each in values if each]))
    return [next(judged) if each else None for each in values]


def _values(
    pair: Pair, measured: Sequence[tuple[Times, Times]]
) -> tuple[Sequence[float], Sequence[float]] | None:
    keys = [version.key for version in pair]
    if not measured or any(key not in times for both in measured for key, times in zip(keys, both)):
        return None
    before, after = ([both[side][keys[side]] for both in measured] for side in (0, 1))
    return before, after


def _untimed(chosen: Sequence[Pair], times: Sequence[Timed | None]) -> list[str]:
    names = [b.name for (_, b), found in zip(chosen, times) if found is None]
    return [f"no times: {', '.join(names)}"] if names else []
