"""Whether the numbers that an exercise prints fit together, and to what its exercise.toml says of them.

A rate is the bytes or operations of the row by its median; % peak is the share of one peak; the speed-up
is the median of the baseline by the row's own; and a column with a formula is what that gives, or not
more.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence

from ..exercise_facts import Facts, Formulas
from ..formula import Formula
from .csv_file import Row

TOLERANCE = 1e-6  # the CSV has 9 significant digits
EMULATION = "CPU emulation"  # how the name of such a device begins
RATES = {"gbps": "bytes", "gflops": "flops"}  # in 10^9 per second, of what [work] has
# Names of columns that times have made.
TIMED = re.compile(r".*_(ms|us|ns)|(.*_)?(gbps|gflops|cycles)|percent_peak|speedup|latency")


def problems(rows: Sequence[Row], facts: Facts) -> list[str]:
    """What is wrong, a line each. `rows` may be those of several runs, one after the other."""
    found = []
    for number, row in enumerate(rows, 1):
        place = f"row {number}" + (f" ({row['kernel']})" if "kernel" in row else "")
        for wrong in (*_times(row), *_rates(row, facts), *_columns(row, facts)):
            found.append(f"{place}: {wrong}")
    return found + [*_speedups(rows, facts), *_peaks(rows)]


def wrong_reps(rows: Sequence[Row], asked: int) -> list[str]:
    """The rows that say of how many runs their times are, and do not say so many; 0 of what is not
    measured."""
    return [
        f"row {number}: reps is {row['reps']}, but --reps={asked}"
        for number, row in enumerate(rows, 1)
        if row.get("reps", "0") not in ("0", str(asked))
    ]


def emulated_times(rows: Sequence[Row], facts: Facts) -> list[str]:
    """The cells that show a time of an emulation, or what came of one: none may, unless --host-times is
    given. A time that exercise.toml can compute was not measured."""
    computed = [
        name
        for name, column in facts.columns.items()
        if column.formula.by_kernel or (column.least.by_kernel and column.most.by_kernel)
    ]
    return [
        f"row {number}: {name} is {value}, on an emulation"
        for number, row in enumerate(rows, 1)
        for name, value in row.items()
        if value and TIMED.fullmatch(name) and name not in computed and on_emulation(row)
    ]


def on_emulation(row: Row) -> bool:
    return row.get("device", "").startswith(EMULATION)


def longer_than(rows: Sequence[Row], milliseconds: float) -> list[str]:
    """No more time than this has passed since the program was started: its times add up to less."""
    total = sum(float(row["reps"]) * float(row["min_ms"]) for row in rows if row.get("min_ms"))
    if total <= milliseconds:
        return []
    return [f"the times add up to {total:g} ms, but the program took {milliseconds:g} ms in all"]


def names_of(row: Row) -> dict[str, float]:
    """What a formula may name: the options in `parameters`, and the columns; of a shape such as 32x8
    the product."""
    words = [word.partition("=") for word in row.get("parameters", "").split()]
    texts = {**row, **{name: value for name, _, value in words}}
    numbers = {name: _number(text) for name, text in texts.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def _number(text: str) -> float | None:
    try:
        return math.prod(float(side) for side in text.split("x"))
    except ValueError:
        return None


def _near(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE)


def _times(row: Row) -> Iterator[str]:
    if "median_ms" not in row:
        return
    if row["grid"] == "-" and row["reps"] == "0" and not row["median_ms"]:
        return  # the host's; a library has no grid either, but a time
    low, median, high = (_number(row[name]) for name in ("min_ms", "median_ms", "max_ms"))
    if on_emulation(row) and (low, median, high) == (None, None, None):
        return  # without --host-times
    if low is None or median is None or high is None:
        yield "a time is missing"
    elif not 0 < low <= median <= high:
        yield f"min, median and max are {low:g}, {median:g} and {high:g} ms"


def _difference(
    row: Row, column: str, formulas: Formulas, names: Mapping[str, float], factor: float = 1
) -> Iterator[str]:
    """Whether the cell of `column` is `factor` times its formula; empty where it has none."""
    formula = formulas.of(row.get("kernel", ""))
    if formula is None:
        if row[column]:
            yield f"{column} is {row[column]}, but exercise.toml has no formula for it"
        return
    number = _number(row[column])
    try:
        expected = factor * formula.value(names)
    except ValueError as error:
        yield f"{column}: {formula.text}: {error}"
        return
    if number is None or not _near(number, expected):
        yield f"{column} is {row[column] or 'missing'}, expected {expected:.9g}: {formula.text}"


def _rates(row: Row, facts: Facts) -> Iterator[str]:
    if "speedup" not in row:  # not the shared columns: an exercise may have a rate of its own
        return
    for column, what in RATES.items():
        formulas: Formulas = getattr(facts.work, what)
        if column not in row:
            if formulas.of(row["kernel"]):
                yield f"there is no column {column}"
        elif not row["median_ms"]:
            if row[column]:
                yield f"{column} is {row[column]}, but there is no time"
        else:
            per_amount = 1e-6 / float(row["median_ms"])
            yield from _difference(row, column, formulas, names_of(row), per_amount)


def _columns(row: Row, facts: Facts) -> Iterator[str]:
    for name, column in facts.columns.items():
        if name not in row:
            continue
        if column.gpu and on_emulation(row):
            if row[name]:
                yield f"{name} is {row[name]}, on an emulation"
            continue
        if column.formula.by_kernel:
            yield from _difference(row, name, column.formula, names_of(row))
        for word, sign, bound in (("most", 1, column.most), ("least", -1, column.least)):
            formula = bound.of(row.get("kernel", ""))
            if formula and row[name]:
                yield from _beyond(row, name, formula, word, sign)


def _beyond(row: Row, column: str, formula: Formula, word: str, sign: int) -> Iterator[str]:
    """Whether the cell of `column` is above its formula, or with -1 as `sign` below it."""
    number = _number(row[column])
    try:
        limit = formula.value(names_of(row))
    except ValueError as error:
        yield f"{column}: {formula.text}: {error}"
        return
    if number is None or sign * (number - limit) > TOLERANCE * abs(limit):
        yield f"{column} is {row[column]}, expected at {word} {limit:.9g}: {formula.text}"


def _speedups(rows: Sequence[Row], facts: Facts) -> Iterator[str]:
    timed = [row for row in rows if row.get("median_ms")]
    if not timed or "speedup" not in timed[0]:
        return
    begins = facts.work.baselines or [timed[0]["kernel"]]
    per = facts.work.per
    baseline = 0.0
    above: tuple[str, str] | None = None
    for number, row in enumerate(rows, 1):
        if not row.get("median_ms"):
            if row["speedup"]:
                yield f"row {number} ({row['kernel']}): a speedup, but no time"
            continue
        median = float(row["median_ms"])
        speedup = _number(row["speedup"])
        place = (row["kernel"], row[per] if per else "")
        # A run of some kernels alone (--kernel) has no baseline, and compares with its first row.
        alone = number > 1 and any(
            row.get(name) != rows[number - 2].get(name) for name in ("parameters", per)
        )
        if (row["kernel"] in begins and place != above) or (alone and speedup == 1):
            baseline = median
        above = place
        if baseline == 0:
            yield f"row {number} ({row['kernel']}): no baseline above it; there are {begins}"
        elif speedup is None or not _near(speedup, baseline / median):
            yield (
                f"row {number} ({row['kernel']}): speedup is {row['speedup'] or 'missing'}, "
                f"expected {baseline / median:.9g}, of {baseline:g} ms"
            )


def _peaks(rows: Sequence[Row]) -> Iterator[str]:
    """A device has one peak of each rate."""
    peaks: dict[tuple[str, str], float] = {}
    for number, row in enumerate(rows, 1):
        percent = _number(row.get("percent_peak", ""))
        rates = [name for name in RATES if row.get(name)]
        if not rates or percent is None:
            if percent is not None:
                yield f"row {number} ({row['kernel']}): a share of the peak, but no rate"
            continue
        peak = 100 * float(row[rates[0]]) / percent
        known = peaks.setdefault((row["device"], rates[0]), peak)
        if not _near(peak, known):
            yield (
                f"row {number} ({row['kernel']}): a peak of {peak:.9g} {rates[0]}, but of "
                f"{known:.9g} in a row above"
            )
