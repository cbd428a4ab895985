"""Reads TOML files, and checks what stands in them."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable

from .errors import LabError
from .paths import shown

if sys.version_info >= (3, 11):
    import tomllib
else:
    from .vendor import tomli as tomllib


def load(path: Path) -> dict[str, Any]:
    """The tables of `path`. Where it is not TOML, LabError names the file and the line."""
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise LabError(f"{shown(path)}: {error.strerror}") from error
    except ValueError as error:  # not TOML, or not UTF-8
        raise LabError(f"{shown(path)}: {error}") from error


@dataclass(frozen=True)
class Rule:
    """What a key must be."""

    expected: str  # in words, behind "expected"
    fits: Callable[[Any], bool]
    required: bool = True
    each: Mapping[str, Rule] | None = None  # rules of each table of a list of tables

    def or_nothing(self) -> Rule:
        """The same, of a key that may be left out."""
        return replace(self, required=False)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _all_of(kind: type, values: Any) -> bool:
    return isinstance(values, list) and all(isinstance(value, kind) for value in values)


TEXT = Rule("a text", lambda value: isinstance(value, str))
WHOLE = Rule("a whole number", lambda value: type(value) is int)
NUMBER = Rule("a number", _is_number)
FLAG = Rule("true or false", lambda value: isinstance(value, bool))
TEXTS = Rule("a list of texts", lambda value: _all_of(str, value))
LIST = Rule("a list", lambda value: isinstance(value, list))
TABLE = Rule("a table", lambda value: isinstance(value, dict))


def one_of(words: Iterable[str]) -> Rule:
    return Rule(", ".join(words), lambda value: value in list(words))


def tables_of(rules: Mapping[str, Rule]) -> Rule:
    return Rule("a list of tables", lambda value: _all_of(dict, value), each=rules)


def did_you_mean(word: str, known: Iterable[str], least: float = 0.5) -> str:
    """'; did you mean ...?', or nothing if no known word is like it. Two words are like each other if at
    least this share of their characters agree."""
    lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), lower, n=1, cutoff=least)
    return f"; did you mean {lower[close[0]]}?" if close else ""


def checked(
    values: Mapping[str, Any], rules: Mapping[str, Rule], place: str, problems: list[str]
) -> dict[str, Any]:
    """Of the table `values` what is as `rules` want it; all that is not is added to `problems`.

    `place` says in a problem where the table is: "[bench] ", or nothing for the whole file.
    """
    good = {}
    for key in values:
        if key not in rules:
            hint = did_you_mean(key, rules) or f"; known are {', '.join(rules)}"
            problems.append(f"{place}unknown key {key}{hint}")
    for key, rule in rules.items():
        if key not in values:
            if rule.required:
                problems.append(f"{place}{key} is missing")
        elif not rule.fits(values[key]):
            problems.append(f"{place}{key} = {values[key]!r}: expected {rule.expected}")
        else:
            good[key] = values[key]
            for number, table in enumerate(values[key] if rule.each else [], 1):
                checked(table, rule.each or {}, f"{place}{key}, entry {number}: ", problems)
    return good


def refuse(path: Path, problems: Iterable[str]) -> None:
    """LabError with a line for each problem of the file; nothing if there are none."""
    lines = [f"{shown(path)}: {problem}" for problem in problems]
    if lines:
        raise LabError("\n".join(lines))
