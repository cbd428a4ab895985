"""What ./lab profile --explain prints: a diagnosis of each kernel in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from .. import catalogue
from ..paths import shown
from ..words import cut, wrapped
from . import diagnosis, ncu_rules, unseen
from .collect import NO_REGISTERS
from .diagnosis import Busy, Diagnosis, Finding, Limit, Values, Waiting
from .metric_table import MetricTable, Row
from .ncu_rules import Estimates

NOTHING = (
    "Nothing in these counts points at a remedy. Below stands what was looked at, and what was not."
)


EMULATED = "Line by line, as the cpu back end counts the same program:"


@dataclass(frozen=True)
class Sentence:
    """Something that was found. `where` and `quote` are a line of the source, if it is about
    one."""

    text: str
    remedy: str = ""
    exercises: Sequence[str] = ()
    title: str = ""
    where: str = ""
    quote: str = ""

    def lines(self, width: int) -> list[str]:
        return [*self._head(width), *wrapped(self.text, width, self._indent), *self._advice(width)]

    @property
    def _indent(self) -> str:
        return "    " if self.title else "  "

    def _head(self, width: int) -> list[str]:
        if not self.title:
            return []
        title = f"{self.title[0].upper()}{self.title[1:]}"
        head = wrapped(f"{title}: {self.where}" if self.where else f"{title}.", width, "  ")
        return [*head, *([cut(f"        {self.quote}", width)] if self.quote else [])]

    def _advice(self, width: int) -> list[str]:
        if not self.remedy:
            return []
        pages = ", ".join(map(_page, self.exercises))
        text = f"{self.remedy} See {pages}" if pages else self.remedy
        return wrapped(f"-> {text}", width, self._indent, others=f"{self._indent}   ")


Launch = tuple[str, str, str]  # a kernel's name, its grid and its block, as a table has them


@dataclass(frozen=True)
class Counted:
    """What the lines of a kernel show, in all its launches together."""

    launch: Launch
    launches: int
    sentences: Sequence[Sentence]


@dataclass(frozen=True)
class Located:
    """A line of the source: FILE:LINE, and its text."""

    where: str
    quote: str


@dataclass(frozen=True)
class ByLine:
    """What the lines of the source show, beside the totals of a table."""

    kernels: Sequence[Counted]
    host: Sequence[Sentence] = ()
    registers_known: bool = False  # of the kernels, as ptxas says
    # On a GPU, by symptom: the line that has most of it, and what Nsight Compute estimates, of each
    # row of the table.
    located: Mapping[Launch, Mapping[str, Located]] = field(default_factory=dict)
    estimates: Sequence[Estimates] = ()
    emulated: ByLine | None = None  # on a GPU: what the cpu back end counts of the same program


def text(table: MetricTable, backend: str, width: int, by_line: ByLine | None = None) -> str:
    """A paragraph for each kernel and one for the host, then what holds for all; lines of at most
    `width` characters. On the cpu back end the lines stand for the totals of the table, on a GPU
    beside them."""
    by_line = by_line or ByLine([])
    if backend == "cpu":
        paragraphs = [_of_lines(counted, width) for counted in by_line.kernels]
        notes = [note for note in table.notes if note != NO_REGISTERS]
        notes += [unseen.LOOKED_AT, *unseen.without_gpu(by_line.registers_known)]
    else:
        rules = diagnosis.load()
        rows = [(row, _values(table, row)) for row in table.rows]
        paragraphs = _paragraphs(rules, rows, width, by_line)
        undecided = _undecided(rules, [values for _, values in rows])
        notes = [*table.notes, *undecided]
        notes.append(unseen.LOOKED_AT if by_line.emulated else unseen.NO_LINES)
        if by_line.emulated:
            paragraphs += _of_emulation(by_line.emulated, width)
            by_line = by_line.emulated
    if by_line.host:
        lines = [line for sentence in by_line.host for line in sentence.lines(width)]
        paragraphs.append("\n".join(["The host's code", *lines]))
    below = [line for note in [table.source, *notes] for line in _note(note, width)]
    return "\n\n".join([*paragraphs, "\n".join(below)]) + "\n"


def _of_emulation(by_line: ByLine, width: int) -> list[str]:
    """The kernels of which something was found."""
    found = [_of_lines(counted, width) for counted in by_line.kernels if counted.sentences]
    return [EMULATED, *found] if found else []


def _of_lines(counted: Counted, width: int) -> str:
    kernel, grid, block = counted.launch
    heading = f"{kernel}, grid {grid}, block {block}"
    if counted.launches > 1:
        heading += f" ({counted.launches} launches, counted together)"
    sentences = counted.sentences or [Sentence(NOTHING)]
    lines = [line for sentence in sentences for line in sentence.lines(width)]
    return "\n".join([*wrapped(heading, width), *lines])


def _note(note: str, width: int) -> list[str]:
    return wrapped(note, width, others="  " if note.startswith("- ") else None)


def _paragraphs(
    rules: Diagnosis,
    rows: Sequence[tuple[Row, Values]],
    width: int,
    by_line: ByLine,
) -> list[str]:
    """Launches of a kernel with the same findings have one, with the numbers of the first."""
    alike: dict[tuple[str, ...], list[list[Sentence]]] = {}
    for number, (row, values) in enumerate(rows):
        beside = _beside(by_line, number, (row.kernel, row.grid, row.block))
        sentences = _sentences(rules, values, beside)
        key = (row.kernel, row.grid, row.block, *(sentence.remedy for sentence in sentences))
        alike.setdefault(key, []).append(sentences)
    found = []
    for (kernel, grid, block, *_), launches in alike.items():
        heading = f"{kernel}, grid {grid}, block {block}"
        if len(launches) > 1:
            heading += f" ({len(launches)} launches, numbers of the first)"
        lines = [line for sentence in launches[0] for line in sentence.lines(width)]
        found.append("\n".join([*wrapped(heading, width), *lines]))
    return found


def _values(table: MetricTable, row: Row) -> Values:
    pairs = zip(table.metrics, row.values)
    return {metric.name: value for metric, value in pairs if isinstance(value, float)}


@dataclass(frozen=True)
class Beside:
    """What is known of a launch beside its totals."""

    sentences: Sequence[Sentence] = ()
    located: Mapping[str, Located] = field(default_factory=dict)
    estimates: Estimates = field(default_factory=dict)

    def estimate(self, symptom: str) -> str:
        """A sentence, behind a space."""
        found = self.estimates.get(symptom)
        return f" {ncu_rules.sentence(found)}" if found else ""


def _beside(by_line: ByLine, row: int, launch: Launch) -> Beside:
    sentences = [each.sentences for each in by_line.kernels if each.launch == launch]
    estimates = by_line.estimates[row] if row < len(by_line.estimates) else {}
    return Beside(sentences[0] if sentences else [], by_line.located.get(launch, {}), estimates)


def _sentences(rules: Diagnosis, values: Values, beside: Beside) -> list[Sentence]:
    findings = rules.findings(values)
    sentences = [
        *(_of_finding(finding, beside) for finding in findings if finding.rule.kind == "size"),
        *_of_gpu(rules, values, beside),
        *(_of_finding(finding, beside) for finding in findings if finding.rule.kind != "size"),
        *beside.sentences,
    ]
    if not any(sentence.remedy for sentence in sentences):
        sentences.append(Sentence(NOTHING))
    return sentences


def _of_finding(finding: Finding, beside: Beside) -> Sentence:
    rule = finding.rule
    says = finding.says + beside.estimate(rule.symptom)
    place = beside.located.get(rule.symptom)
    if place:
        return Sentence(
            says, rule.remedy, rule.exercises, rule.symptom, f"most at {place.where}", place.quote
        )
    symptom = rule.symptom[0].upper() + rule.symptom[1:]
    return Sentence(f"{symptom}. {says}", rule.remedy, rule.exercises)


def _of_gpu(rules: Diagnosis, values: Values, beside: Beside) -> list[Sentence]:
    busy, waiting = rules.busy(values), rules.waiting(values)
    stalls = _of_stalls(waiting, busy)
    if stalls.remedy:
        stalls = replace(stalls, text=stalls.text + beside.estimate(ncu_rules.STALL))
    return [_of_limits(busy, advise=not stalls.remedy), stalls]


def _of_limits(busy: Busy | None, advise: bool) -> Sentence:
    """With a remedy if `advise`."""
    if busy is None:
        return Sentence("How busy the parts of the GPU were is not known here.")
    shares = ", ".join(f"{part} {share:.0f} %" for part, share in busy.shares.items())
    begin = f"Of their peaks: {shares}."
    if not busy.limits:
        return Sentence(f"{begin} No part is busy: the warps wait, or there are too few of them.")
    parts = _joined(busy.limits)
    if busy.full:
        verdict = f"The limit: {parts}."
    else:
        verdict = f"Busiest, without being full: {parts}."
    if not advise:
        return Sentence(f"{begin} {verdict}")
    first = busy.limits[0]
    return Sentence(f"{begin} {verdict}", first.remedy, first.exercises)


def _joined(limits: Sequence[Limit]) -> str:
    first, *others = [limit.part for limit in limits]
    return f"{first}, together with {', '.join(others)}" if others else first


def _of_stalls(waiting: Waiting | None, busy: Busy | None) -> Sentence:
    if waiting is None:
        return Sentence("What the warps wait for most is not known here.")
    stall = waiting.stall
    most = (
        f"Warps wait most for {stall.symptom}: {waiting.share:.0f} % of their time "
        f"({stall.metric}; ncu: {unseen.of_ncu(stall.metric)})"
    )
    if busy is None:
        return Sentence(f"{most}.")
    if busy.full:
        return Sentence(f"{most}; with a part that busy, they have to wait for something.")
    if not waiting.dominating:
        return Sentence(f"{most}, which is not much.")
    return Sentence(f"{most}.", stall.remedy, stall.exercises)


def _undecided(rules: Diagnosis, kernels: Sequence[Values]) -> list[str]:
    """Names the rules that could not be decided for some kernel, with what they lack."""
    missing: dict[str, list[str]] = {}
    for values in kernels:
        missing.update(rules.undecided(values))
    return [f"not decided: {symptom} (no {', '.join(names)})" for symptom, names in missing.items()]


def _page(exercise: str) -> str:
    source = catalogue.sources().get(exercise)
    return shown(catalogue.page_of(source)) if source else exercise
