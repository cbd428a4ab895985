"""exercise.toml as students get it: without pieces of solutions, and without what names a kernel that is not
there."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Any

from .choice import Choice, Part

# What belongs to tests of the workspace itself, and shows how kernels go wrong.
OF_OUR_TESTS = ("broken", "faults")
# Of an [[assignment]], what is for whoever makes a hand-out.
OF_THE_TEACHER = ("hides", "leaves_out", "answers", "comment", "listed")
KERNEL = re.compile(r"--kernel=([^\s\"]+)")
PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


def of(
    tables: Mapping[str, Any],
    choice: Choice,
    part: Part | None,
    removed: Collection[str],
    rows: Collection[str],
) -> str:
    """The text of the file. `part` is that of its exercise, if there is one; `removed` are its rows that are
    not there any more, `rows` those that it has."""
    names = {assignment.name for assignment in part.assignments} if part else set()
    left_out = {exercise.name for exercise in choice.left_out}
    kept = {key: value for key, value in tables.items() if key not in (*OF_OUR_TESTS, "assignment")}
    kept["tests"] = _tests(kept["tests"], removed, rows)
    kept = _without(kept, {*removed} | left_out)
    for name, figure in kept.get("figures", {}).items():
        if "placed" in figure:
            placed = tables["figures"][name]["placed"]
            figure["placed"] = [each for each in placed if each["exercise"] not in left_out]
    kept["assignment"] = [
        {key: value for key, value in entry.items() if key not in OF_THE_TEACHER}
        for entry in tables.get("assignment", [])
        if entry["name"] in names
    ]
    return written(kept)


def without_hints(tables: Mapping[str, Any]) -> str:
    """The text of the file without the hints, which may have pieces of a solution."""
    entries = tables.get("assignment", [])
    assignments = [
        {key: value for key, value in entry.items() if key != "hints"} for entry in entries
    ]
    return written({**tables, "assignment": assignments})


def _tests(
    tests: Mapping[str, Any], removed: Collection[str], rows: Collection[str]
) -> dict[str, Any]:
    """[tests] without the cases that name a row which is `removed`, or choose such rows alone."""

    def about(case: str) -> bool:
        if any(re.search(rf"\b{re.escape(name)}\b", case) for name in removed):
            return True
        chosen = KERNEL.search(case)
        return bool(
            chosen
            and any(chosen[1] in name for name in removed)
            and not any(chosen[1] in name for name in rows)
        )

    kept: dict[str, Any] = {}
    for kind, value in tests.items():
        if isinstance(value, list):  # runs
            kept[kind] = [run for run in value if not about(run)]
            continue
        entries = {
            options: [regex for regex in entry if not about(regex)]
            if isinstance(entry, list)
            else entry
            for options, entry in value.items()
            if not about(options) and not (isinstance(entry, str) and about(entry))
        }
        kept[kind] = {options: entry for options, entry in entries.items() if entry}
    return {kind: table for kind, table in kept.items() if table}


def _without(value: Any, names: Collection[str]) -> Any:
    """Without the keys and the elements of lists that are one of `names`."""
    if isinstance(value, dict):
        return {key: _without(inner, names) for key, inner in value.items() if key not in names}
    if isinstance(value, list):
        return [
            _without(inner, names)
            for inner in value
            if not (isinstance(inner, str) and inner in names)
        ]
    return value


def written(tables: Mapping[str, Any]) -> str:
    """As TOML; what it is made of is texts, numbers, true and false, lists and tables."""
    plain = [
        f"{_key(key)} = {_value(value)}" for key, value in tables.items() if not _is_table(value)
    ]
    blocks = ["\n".join(plain)] if plain else []
    for key, value in tables.items():
        if _is_table(value):
            blocks += [
                "\n".join([head, *(f"{_key(k)} = {_value(v)}" for k, v in table.items())])
                for head, table in _headed(_key(key), value)
            ]
    return "\n\n".join(blocks) + "\n"


def _headed(key: str, value: Any) -> list[tuple[str, dict[str, Any]]]:
    """The tables of a table or of a list of them, and what stands above each."""
    if isinstance(value, list):
        return [(f"[[{key}]]", table) for table in value]
    if value and all(isinstance(each, dict) for each in value.values()):
        return [(f"[{key}.{_key(name)}]", table) for name, table in value.items()]
    return [(f"[{key}]", value)]


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and all(isinstance(each, dict) for each in value)
    )


def _key(key: str) -> str:
    return key if PLAIN_KEY.fullmatch(key) else _value(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list):
        items = [_value(each) for each in value]
        text = f"[{', '.join(items)}]"
        if len(text) > 80:
            text = "[\n" + "".join(f"    {item},\n" for item in items) + "]"
        return text
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)  # of true, false and numbers, TOML and JSON have the same words
