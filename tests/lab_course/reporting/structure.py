"""As much of JSON Schema as report.schema.json uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}
KNOWN = {
    "$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "additionalProperties",
    "properties", "items", "enum", "const", "anyOf", "minimum",
}  # fmt: skip


def problems(
    value: Any, schema: dict[str, Any], root: dict[str, Any], place: str = "$"
) -> Iterator[str]:
    """Where `value` is not as `schema`, a part of `root`, wants it."""
    assert set(schema) <= KNOWN, set(schema) - KNOWN
    if "$ref" in schema:
        name = schema["$ref"].removeprefix("#/$defs/")
        yield from problems(value, root["$defs"][name], root, place)
    if "anyOf" in schema and all([*problems(value, s, root, place)] for s in schema["anyOf"]):
        yield f"{place}: none of anyOf"
    if "type" in schema and not _is_of(value, schema["type"]):
        yield f"{place}: {value!r} is no {schema['type']}"
        return
    if value not in schema.get("enum", [value]) or value != schema.get("const", value):
        yield f"{place}: {value!r} is not allowed"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{place}: {value} is too small"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, place)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from problems(item, schema["items"], root, f"{place}[{number}]")


def _of_object(value: dict, schema: dict, root: dict, place: str) -> Iterator[str]:
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}: no {name}"
    more = schema.get("additionalProperties", {})
    for name, item in value.items():
        own = schema.get("properties", {}).get(name, more)
        if own is False:
            yield f"{place}: unknown {name}"
        else:
            yield from problems(item, own, root, f"{place}.{name}")


def _is_of(value: Any, types: str | list[str]) -> bool:
    names = [types] if isinstance(types, str) else types
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, TYPES[name]) for name in names)
