"""What the student sees of a verdict: what is right, the first thing that is wrong, and what to do next. It
fits 80 x 24."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable

from lab_cli.assignments import POINTS, Assignment
from lab_cli.commands.layout import wrapped
from lab_cli.paths import shown
from lab_cli.results.marks import in_points

from ..grading.evaluate import Finding
from .copy import Copy
from .times import Times
from .verdict import NOT_KNOWN, Count, Verdict

WIDTH = 80
LABEL = 12  # characters of the first column
MOST_SEEN = 6  # lines of a hazard below a wrong result
MOST_ALONE = 9  # where there is none
MOST_WRONG = 4  # of a wrong result
MOST_COMPILED = 12
MOST_COUNTS = 7
MOST_OF_WORST = 2  # lines about the line that costs most in vain
MORE = " ..."  # behind what is cut
MOST_AT_END = 3  # lines that say how many points, and what to do
# Lines of GCC's around an error.
NEEDLESS = re.compile(r": In .*(function|constructor|lambda)|^[ |]*$")
CODE = re.compile(r" *\d* \|| {8,}")
RIGHT, WRONG, TITLE, SOFT = "32", "1;31", "1", "2"

Paint = Callable[[str, str], str]  # a text, and its style


def plain(text: str, _: str) -> str:
    return text


def coloured(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def stars(assignment: Assignment) -> str:
    return "★" * assignment.stars


def heading(copy: Copy, assignment: Assignment | None, right: str, paint: Paint) -> str:
    """Which exercise, and at the right how long the verdict took."""
    about = f"{assignment.name} {stars(assignment)}" if assignment else "no assignment yet"
    left = f"{copy.exercise.name}: {about}"
    return paint(left, TITLE) + right.rjust(max(len(right) + 1, WIDTH - len(left)))


def took(verdict: Verdict | None) -> str:
    return f"{verdict.seconds:.1f} s" if verdict else ""


def beginning(copy: Copy, assignment: Assignment | None) -> list[str]:
    """Before the first verdict."""
    if not assignment:
        return [f"  {shown(copy.file)}"]
    return [
        wrapped(assignment.sentence, WIDTH, "  ", "  "),
        "",
        f"  {'read':<{LABEL}}{shown(copy.exercise.page)}",
        f"  {'write':<{LABEL}}{', '.join(assignment.kernels)}",
        f"  {shown(copy.file)}:{copy.line_of(assignment.kernels)}",
    ]


def times(found: Times) -> str:
    """A line: what rows of the last run took on a GPU."""
    rows = "; ".join(f"{name} {time:.4g} ms" for name, time in found.rows)
    return wrapped(f"{rows} ({found.gpu})", WIDTH, f"  {'time':<{LABEL}}", " " * (2 + LABEL))


def fitted(verdict: list[str], below: list[str], rows: int) -> list[str]:
    """Both in as many rows. Empty lines go first, then what is before the end of the verdict; that end, and
    what is below it, such as a hint, stay."""
    found = [*verdict, *below]
    while len(found) > rows and "" in found:
        del found[len(found) - 1 - found[::-1].index("")]
    if len(found) <= rows:
        return found
    verdict, below = ([line for line in part if line] for part in (verdict, below))
    room = max(1, rows - len(below) - 1)
    end = min(MOST_AT_END, room - 1)
    return [*verdict[: room - end], "  ...", *verdict[len(verdict) - end :], *below]


def lines(copy: Copy, verdict: Verdict, paint: Paint = plain) -> list[str]:
    """All but the heading."""
    if verdict.problem:
        return _not_compiled(copy, verdict, paint)
    if verdict.blank:
        points = paint(f"0 of {POINTS} points", TITLE)
        return [*beginning(copy, verdict.assignment), "", f"  {points}: nothing is written yet"]
    found = [_line("compiles", "yes", RIGHT, paint)]
    found += _right(verdict, paint)
    if verdict.is_right:
        found += _hazards(verdict, paint)
        found += _speed(verdict, paint)
        found += _count_table(verdict.counts, verdict.assignment, paint)
        found += _differs(verdict)
        found += _worst(verdict)
    elif any(finding.hazard for finding in verdict.hazards):  # a reason for what is wrong
        found += _hazards(verdict, paint)
    found += ["", *_end(copy, verdict, paint)]
    return found


def _line(label: str, text: str, style: str, paint: Paint) -> str:
    return f"  {label:<{LABEL}}{paint(text, style)}"


def _short(text: str) -> str:
    """With the names of files, and without those of their folders."""
    return re.sub(r"\S*/(\S+\.cu:\d)", r"\1", text)


def _seen(text: str, most: int) -> list[str]:
    """Below the line that it belongs to."""
    indent = " " * (2 + LABEL)
    found: list[str] = []
    for line in text.splitlines():
        found += textwrap.wrap(line, WIDTH - len(indent), break_long_words=False) or [""]
    if len(found) > most:
        found[most - 1] = found[most - 1][: WIDTH - len(indent) - len(MORE)] + MORE
    return [indent + line for line in found[:most]]


def _folded(said: Iterable[str], indent: str, most: int) -> list[str]:
    """What a compiler or the hazard check says. A line of code is cut: below it, marks may show a place."""
    found: list[str] = []
    for line in said:
        own = indent + " " * (len(line) - len(line.lstrip()))
        if CODE.match(line):
            found.append((indent + line)[:WIDTH])
        else:
            found += textwrap.wrap(line.strip(), WIDTH, initial_indent=own, subsequent_indent=own)
    return found[:most]


def _not_compiled(copy: Copy, verdict: Verdict, paint: Paint) -> list[str]:
    _, *said = verdict.problem.splitlines() or [""]
    said = [line for line in said if not NEEDLESS.search(line)] or [verdict.problem]
    return [
        _line("compiles", "no", WRONG, paint),
        "",
        *_folded(said, "  ", MOST_COMPILED),
        "",
        _line("next", f"fix {copy.file.name}, and save it", TITLE, paint),
    ]


def _right(verdict: Verdict, paint: Paint) -> list[str]:
    good = sum(finding.met for finding in verdict.right)
    count = len(verdict.right)
    first = verdict.wrong_result
    if first is None:
        return [_line("right", f"at all {count} sizes" if count > 1 else "yes", RIGHT, paint)]
    options = first.look.partition(" -- ")[2]
    words = f"no: right at {good} of {count} sizes" if 1 < count != good else "no"
    return [
        _line("right", words, WRONG, paint),
        *_seen(f"With {options}:", 1),
        *_seen(without_name(first), MOST_WRONG),
    ]


def without_name(finding: Finding) -> str:
    """What was seen, without the words with which a program begins its line about a wrong row."""
    return _short(finding.seen.removeprefix("WRONG: "))


def _hazards(verdict: Verdict, paint: Paint) -> list[str]:
    for finding in verdict.hazards:
        if finding.hazard:
            said = _said(_short(finding.seen))
            most = MOST_SEEN if verdict.wrong_result else MOST_ALONE
            return [_line("hazards", "yes:", WRONG, paint), *_folded(said, "    ", most)]
    if not verdict.hazards:  # as on a GPU
        return [_line("hazards", "not looked for: only the cpu back end can", SOFT, paint)]
    return [_line("hazards", "none found", RIGHT, paint)]


def _speed(verdict: Verdict, paint: Paint) -> list[str]:
    """Where it is the goal."""
    found = verdict.speed
    if not found:
        return []
    words = f"at least {found.about}"
    if found.met:
        return [_line("speed", words, RIGHT, paint)]
    return [_line("speed", f"less than {found.about}", WRONG, paint), *_seen(found.seen, 2)]


def _said(report: str) -> list[str]:
    """The lines of a finding. Code stands below its line, which has room for it in a report alone, and the
    screen has none for the reason."""
    said: list[str] = []
    for line in report.splitlines():
        act, bar, code = line.partition(" | ")
        if not line.lstrip().startswith("why: "):
            said += [act, " " * 9 + code] if bar else [line]
    return said


def _count_table(counts: Iterable[Count], assignment: Assignment | None, paint: Paint) -> list[str]:
    """The student's kernel beside the one before it, where that was counted, and the goal. Goals come first."""
    counts = [*counts][:MOST_COUNTS]
    if not counts or not assignment:
        return []
    metric = [each.bound.split()[0] for each in counts]
    wide = max(map(len, metric))
    before = assignment.before[:22] if any(each.before != NOT_KNOWN for each in counts) else ""
    width = max(len(before), 10) if before else 0
    options = counts[0].options if len({each.options for each in counts}) == 1 else ""
    head = f"  {'counts':<{wide}}  {'yours':>10}  {before:>{width}}  must be"
    found = ["", *([f"  with {options}"] if options else []), head]
    for each, name in zip(counts, metric):
        if each.options != options:
            options = each.options
            found.append(f"  with {options}")
        bound = each.bound.partition(" ")[2]
        row = (
            f"  {name:<{wide}}  {each.yours:>10}  {each.before if before else '':>{width}}  {bound}"
        )
        mark = paint("yes", RIGHT) if each.met else paint("no", WRONG)
        found.append(f"{row:<{WIDTH - 4}} {mark}")
    return found


def _differs(verdict: Verdict) -> list[str]:
    """What the counts have else than those of the kernel before it."""
    if not verdict.differs or not verdict.assignment:
        return []
    label = f"  {'differs':<{LABEL}}"
    words = f"from {verdict.assignment.before}: {', '.join(verdict.differs)}"
    return wrapped(words, WIDTH, label, " " * len(label)).split("\n")


def _worst(verdict: Verdict) -> list[str]:
    """The line that `./lab profile --source` marks, where a count misses its bound."""
    if not verdict.worst:
        return []
    label = f"  {'worst line':<{LABEL}}"
    lines = wrapped(verdict.worst, WIDTH, label, " " * len(label)).split("\n")
    if len(lines) > MOST_OF_WORST:
        room = WIDTH - len(MORE)
        lines[MOST_OF_WORST - 1] = lines[MOST_OF_WORST - 1][:room] + MORE
    return lines[:MOST_OF_WORST]


def _end(copy: Copy, verdict: Verdict, paint: Paint) -> list[str]:
    """Points, and one thing to do next."""
    missed = verdict.first_miss
    found = []
    if verdict.assignment:
        points = f"{in_points(verdict.points)} of {POINTS} points"
        solved = verdict.points == POINTS
        found.append(f"  {paint(points, RIGHT if solved else TITLE)}{_why(verdict)}")
    if missed and missed.look:
        indent = "  " if len(missed.look) < WIDTH - 1 else ""  # in one line, to be copied
        found += ["  look closer:", f"{indent}{missed.look}"]
    elif not verdict.assignment:
        found.append(_line("next", f"the tasks of {shown(copy.exercise.page)}", TITLE, paint))
    return found


def _why(verdict: Verdict) -> str:
    """Behind the points, why not all of them."""
    if verdict.points == POINTS:
        return ": solved"
    if verdict.points == 0:
        free = " and free of hazards" if verdict.hazards else ""
        return f": it must be right at all sizes{free} first"
    return ": right, and short of the goal"
