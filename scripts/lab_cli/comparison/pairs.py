"""Which versions are compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import BAD_USAGE, LabError, printable
from ..toml_file import did_you_mean
from .asked import Asked, Side
from .counting import Counted
from .versions import Version

Pair = tuple[Version, Version]
MOST_NAMED = 12  # kernels in a message


@dataclass(frozen=True)
class Pairs:
    pairs: Sequence[Pair]
    notes: Sequence[str] = field(default_factory=list)  # about what is in one program alone


def of(asked: Asked, before: Counted, after: Counted) -> Pairs:
    """LabError (status 2) for a kernel that is not there, and where it is not clear what belongs together."""
    if asked.before.kernel and asked.after.kernel:
        a, b = _found(asked.before, before), _found(asked.after, after)
        if a is b:
            words = (printable(side.kernel) for side in (asked.before, asked.after))
            raise LabError(f"{' and '.join(words)} are both {a[0].key[0]}", BAD_USAGE)
        return Pairs(_of_two(a, b))
    sides = [(asked.before, before), (asked.after, after)]
    if any(side.kernel for side, _ in sides):
        return Pairs(_of_two(*(_only(side, counted) for side, counted in sides)))
    return _by_name(asked, before, after)


def _of_two(before: Sequence[Version], after: Sequence[Version]) -> list[Pair]:
    """Rows of the same number are compared in their order; a single one is compared with each of the others."""
    if len(before) == len(after):
        return list(zip(before, after))
    if 1 in (len(before), len(after)):
        return [(a, b) for a in before for b in after]
    raise LabError(
        f"{before[0].name} is one of {len(before)} rows, {after[0].name} one of {len(after)}: options after "
        "-- choose among them",
        BAD_USAGE,
    )


def _only(side: Side, counted: Counted) -> list[Version]:
    """The kernel that was named, or the only one."""
    if side.kernel:
        return _found(side, counted)
    if len(counted.main) > 1:
        raise LabError(
            f"{side.program.title} has {len(counted.main)} kernels: name one, as in "
            f"{side.program.title}:{next(iter(counted.main))}; there are {_listed(counted.main)}",
            BAD_USAGE,
        )
    return next(iter(counted.main.values()))


def _found(side: Side, counted: Counted) -> list[Version]:
    """By the name of a row or a kernel, or by a part of one that no other has."""
    known = {**counted.kernels, **counted.rows}
    for alike in (_is, _is_whatever_case, _is_without_arguments, _ends_with_word, _ends, _contains):
        names = [name for name in known if alike(name, side.kernel)]
        exact = [name for name in names if name in counted.rows] or names
        if len(exact) == 1:
            return known[exact[0]]
        if exact:
            raise LabError(
                f"{printable(side.kernel)} may be {_listed(exact, 'or')} of {side.program.title}",
                BAD_USAGE,
            )
    near = did_you_mean(side.kernel, known, least=0.7)
    raise LabError(
        f"{side.program.title} has no kernel {printable(side.kernel)}{near}; there are {_listed(counted.main)}",
        BAD_USAGE,
    )


def _is(name: str, asked: str) -> bool:
    return name == asked


def _is_whatever_case(name: str, asked: str) -> bool:
    return name.lower() == asked.lower()


def _is_without_arguments(name: str, asked: str) -> bool:
    return _base(name).lower() == asked.lower()


def _ends_with_word(name: str, asked: str) -> bool:
    """'coalesced' ends matmulCoalesced with a word, and matmulUncoalesced with a part of one."""
    return _ends(name, asked) and _base(name)[-len(asked)].isupper()


def _ends(name: str, asked: str) -> bool:
    return _base(name).lower().endswith(asked.lower())


def _contains(name: str, asked: str) -> bool:
    return asked.lower() in name.lower()


def _base(name: str) -> str:
    return name.partition("<")[0]


def _listed(names: Iterable[str], word: str = "and") -> str:
    known = [*names]
    if len(known) > MOST_NAMED:
        known = [*known[:MOST_NAMED], f"{len(known) - MOST_NAMED} more"]
    return f" {word} ".join(filter(None, [", ".join(known[:-1]), known[-1]]))


def _by_name(asked: Asked, before: Counted, after: Counted) -> Pairs:
    """Kernels of the same name, or the only kernel of each program."""
    a, b = _same_kind(before, after)
    if len(a) == len(b) == 1:
        return Pairs(_of_two(*(next(iter(each.values())) for each in (a, b))))
    names = {name: _partner(name, a, b) for name in a}
    pairs = [pair for name, other in names.items() if other for pair in _of_two(a[name], b[other])]
    if not pairs:
        one, two = (side.program for side in (asked.before, asked.after))
        raise LabError(
            f"no kernel of {one.title} has the name of one of {two.title}: name one of each, as in "
            f"{one.title}:{next(iter(a))} {two.title}:{next(iter(b))}",
            BAD_USAGE,
        )
    alone = {
        "before": [name for name, other in names.items() if not other],
        "after": [name for name in b if name not in names.values()],
    }
    notes = [
        f"Only in the version {side}: {_listed(those)}." for side, those in alone.items() if those
    ]
    return Pairs(pairs, notes)


def _same_kind(before: Counted, after: Counted) -> tuple[Mapping[str, list[Version]], ...]:
    """Rows with rows, kernels with kernels."""
    if before.rows and after.rows:
        return before.rows, after.rows
    return before.kernels, after.kernels


def _partner(name: str, own: Mapping[str, object], others: Mapping[str, object]) -> str:
    """The kernel of the same name; else of the same name but for template arguments, if there is one such in
    either program. Empty where there is none."""
    if name in others:
        return name
    bases = [[each for each in known if _base(each) == _base(name)] for known in (own, others)]
    return bases[1][0] if [len(each) for each in bases] == [1, 1] else ""
