"""The rules of scripts/diagnosis.toml, and which of them hold for the counts of a kernel."""

from __future__ import annotations

import functools
import string
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import metrics, toml_file
from ..formula import Condition, Formula
from ..paths import SCRIPTS
from ..toml_file import NUMBER, TEXT, TEXTS, checked, one_of, tables_of
from ..words import number

FILE = SCRIPTS / "diagnosis.toml"
LOST = "lost"  # in conditions and sentences: the value of the rule's own formula
SHOWN = 2  # findings, besides those about the launch as a whole
KINDS = ("size", "lanes", "waste", "hint")

Values = Mapping[str, float]  # of a kernel, by textbook name; without those that are not available

_READ = {"remedy": TEXT, "exercises": TEXTS.or_nothing()}
_LIMIT = {"part": TEXT, "metric": TEXT, "close": NUMBER.or_nothing(), **_READ}
_STALL = {"metric": TEXT, "symptom": TEXT, **_READ}
_RULE = {
    "symptom": TEXT,
    "kind": one_of(KINDS),
    "lost": TEXT.or_nothing(),
    "when": TEXTS,
    "unless": TEXTS.or_nothing(),
    "says": TEXT,
    "also": TEXT.or_nothing(),
    "why": TEXT,
    **_READ,
}
_THRESHOLDS = {"busy": NUMBER, "full": NUMBER, "close": NUMBER}
_STALL_FACTS = {"dominating": NUMBER, "issuing": TEXT, "ready": TEXT}
_FILE = {
    "thresholds": toml_file.TABLE,
    "limits": tables_of(_LIMIT),
    "stall": toml_file.TABLE,
    "stalls": tables_of(_STALL),
    "rules": tables_of(_RULE),
}


@dataclass(frozen=True)
class Limit:
    """The fields of this class and of those below are as in diagnosis.toml, which says what they mean."""

    part: str
    metric: str
    remedy: str
    close: float | None = None  # the threshold's, if it has none of its own
    exercises: Sequence[str] = ()


@dataclass(frozen=True)
class Stall:
    metric: str
    symptom: str
    remedy: str
    exercises: Sequence[str] = ()


@dataclass(frozen=True)
class Rule:
    symptom: str
    kind: str
    when: Sequence[Condition]
    says: str
    remedy: str
    why: str
    unless: Sequence[Condition] = ()
    lost: Formula | None = None
    also: str = ""
    exercises: Sequence[str] = ()

    @property
    def quoted(self) -> list[str]:
        """The metrics that point at the remedy: those that its sentence quotes."""
        return [name for name in _placeholders(self.says) if name != LOST]

    @property
    def needs(self) -> list[str]:
        """The metrics without which it cannot be decided."""
        of_conditions = [name for condition in self.when for name in condition.names]
        of_lost = self.lost.names if self.lost else []
        names = dict.fromkeys([*self.quoted, *of_conditions, *of_lost])
        return [name for name in names if name != LOST]

    @property
    def wants(self) -> list[str]:
        """The metrics that it heeds where they have a value."""
        return [*_placeholders(self.also), *(name for part in self.unless for name in part.names)]

    def missing(self, values: Values) -> list[str]:
        return [name for name in self.needs if name not in values]

    def finding(self, values: Values) -> Finding | None:
        """None where it does not hold, also where there is nothing of which a share could be lost."""
        if self.missing(values):
            return None
        numbers = dict(values)
        try:
            if self.lost:
                numbers[LOST] = self.lost.value(values)
            if not all(condition.holds(numbers) for condition in self.when):
                return None
            known = [part for part in self.unless if set(part.names) <= numbers.keys()]
            if any(condition.holds(numbers) for condition in known):
                return None
        except ValueError:
            return None
        says = filled(self.says, numbers)
        if self.also and all(name in numbers for name in _placeholders(self.also)):
            says += " " + filled(self.also, numbers)
        return Finding(self, numbers.get(LOST, 0.0), says)


@dataclass(frozen=True)
class Finding:
    rule: Rule
    lost: float  # %
    says: str


@dataclass(frozen=True)
class Busy:
    """How busy the parts of the GPU were, in per cent, and those that matter: the busiest and what is
    close to it, if that is busy at all."""

    shares: Mapping[str, float]  # by part
    limits: Sequence[Limit]
    full: bool  # the busiest is as good as full


@dataclass(frozen=True)
class Waiting:
    """What warps wait for most, and for how much of their time in per cent."""

    stall: Stall
    share: float
    dominating: bool  # enough to do something about it


@dataclass(frozen=True)
class Diagnosis:
    thresholds: Mapping[str, float]
    limits: Sequence[Limit]
    dominating: float
    issuing: str
    ready: str
    stalls: Sequence[Stall]
    rules: Sequence[Rule]

    def metrics(self, backend: str) -> list[str]:
        """What a back end has to count, by textbook name."""
        known = metrics.load().metrics
        own = [name for rule in self.rules for name in [*rule.needs, *rule.wants]]
        of_limits = [limit.metric for limit in self.limits]
        of_stalls = [self.issuing, self.ready, *(stall.metric for stall in self.stalls)]
        names = dict.fromkeys([*of_limits, *of_stalls, *own])
        return [name for name in names if getattr(known[name], backend)]

    def findings(self, values: Values) -> list[Finding]:
        """All that are about the launch as a whole, then the first of the others."""
        found = [finding for rule in self.rules if (finding := rule.finding(values))]
        sizes = [finding for finding in found if finding.rule.kind == "size"]
        others = [finding for finding in found if finding.rule.kind != "size"]
        others.sort(key=lambda finding: (KINDS.index(finding.rule.kind), -finding.lost))
        return [*sizes, *others[:SHOWN]]

    def undecided(self, values: Values) -> dict[str, list[str]]:
        """Of each rule that cannot be decided the metrics that it lacks, by symptom."""
        return {rule.symptom: missing for rule in self.rules if (missing := rule.missing(values))}

    def busy(self, values: Values) -> Busy | None:
        """None if the share of one of the parts is not known."""
        if any(limit.metric not in values for limit in self.limits):
            return None
        shares = {limit.part: values[limit.metric] for limit in self.limits}
        most = max(values[limit.metric] for limit in self.limits)
        if most < self.thresholds["busy"]:
            return Busy(shares, [], full=False)
        limits = [
            limit for limit in self.limits if most - values[limit.metric] <= self._close(limit)
        ]
        return Busy(shares, limits, full=most >= self.thresholds["full"])

    def waiting(self, values: Values) -> Waiting | None:
        """None if a stall that has no value here can be greater than those that have one."""
        known = [stall for stall in self.stalls if stall.metric in values]
        if not known:
            return None
        most = max(known, key=lambda stall: values[stall.metric])
        share = values[most.metric]
        of_others = [self.issuing, self.ready, *(stall.metric for stall in known)]
        unknown = 100 - sum(values.get(name, 0.0) for name in of_others)
        if share <= max(unknown, 0.0):
            return None
        return Waiting(most, share, dominating=share >= self.dominating)

    def _close(self, limit: Limit) -> float:
        return self.thresholds["close"] if limit.close is None else limit.close


def filled(sentence: str, numbers: Values) -> str:
    """The numbers in the place of their names in braces."""
    known = metrics.load().metrics
    formats = {name: known[name].format if name in known else "" for name in numbers}
    return sentence.format_map(
        {name: shown(value, formats[name]) for name, value in numbers.items()}
    )


def shown(value: float, form: str = "") -> str:
    """As the tables of the pages have it, else with three digits, or all before the point."""
    if form:
        return format(value, form)
    return number(value)


def _placeholders(sentence: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None]


@functools.cache
def load(path: Path = FILE) -> Diagnosis:
    """LabError names the file, and in it each key that is wrong."""
    problems: list[str] = []
    file = checked(toml_file.load(path), _FILE, "", problems)
    thresholds = checked(file.get("thresholds", {}), _THRESHOLDS, "[thresholds] ", problems)
    of_stalls = checked(file.get("stall", {}), _STALL_FACTS, "[stall] ", problems)
    toml_file.refuse(path, problems)
    rules = [_rule(table, entry, problems) for entry, table in enumerate(file["rules"], 1)]
    toml_file.refuse(path, problems)
    diagnosis = Diagnosis(
        thresholds,
        [Limit(**table) for table in file["limits"]],
        **of_stalls,
        stalls=[Stall(**table) for table in file["stalls"]],
        rules=[rule for rule in rules if rule],
    )
    toml_file.refuse(path, _unknown(diagnosis))
    return diagnosis


def _rule(table: Mapping[str, Any], entry: int, problems: list[str]) -> Rule | None:
    try:
        lost = {LOST: Formula(table[LOST])} if LOST in table else {}
        conditions = {
            key: [Condition(text) for text in table.get(key, [])] for key in ("when", "unless")
        }
        return Rule(**{**table, **lost, **conditions})
    except ValueError as error:
        problems.append(f"rules, entry {entry}: {error}")
        return None


def _unknown(diagnosis: Diagnosis) -> Iterable[str]:
    """What refers to nothing."""
    known = metrics.load().metrics
    named = {f"limits, {limit.part}": [limit.metric] for limit in diagnosis.limits}
    named["[stall]"] = [diagnosis.issuing, diagnosis.ready]
    named.update({f"stalls, {stall.symptom}": [stall.metric] for stall in diagnosis.stalls})
    for rule in diagnosis.rules:
        named[f"rules, {rule.symptom}"] = [*rule.needs, *rule.wants]
        if rule.lost is None and LOST in [name for part in rule.when for name in part.names]:
            yield f"rules, {rule.symptom}: a condition on {LOST}, but no formula {LOST}"
    for place, names in named.items():
        for name in names:
            if name not in known:
                yield f"{place}: no metric is named {name!r}"
