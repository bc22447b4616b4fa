"""What docs/output.schema.json uses of JSON Schema, as one function."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SCHEMA = json.loads(
    (Path(__file__).parents[1] / "docs" / "output.schema.json").read_text(encoding="utf-8")
)
_KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
_KNOWN = {
    *("type", "required", "properties", "additionalProperties", "items", "enum", "const", "$ref"),
    *("$schema", "title", "$defs"),
}


def violations(value: Any, rule: dict[str, Any] = SCHEMA, place: str = "$") -> list[str]:
    """What is wrong with a document."""
    assert set(rule) <= _KNOWN, set(rule) - _KNOWN
    if "$ref" in rule:
        return violations(value, SCHEMA["$defs"][rule["$ref"].rpartition("/")[2]], place)
    wrong = []
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return [f"{place}: {value!r} is no {' or '.join(kinds)}"]
    if "const" in rule and value != rule["const"]:
        wrong.append(f"{place}: {value!r} is not {rule['const']!r}")
    if "enum" in rule and value not in rule["enum"]:
        wrong.append(f"{place}: {value!r} is none of {rule['enum']}")
    if isinstance(value, dict):
        known = rule.get("properties", {})
        wrong += [f"{place}: no {key}" for key in rule.get("required", []) if key not in value]
        if rule.get("additionalProperties") is False:
            wrong += [f"{place}: unknown {key}" for key in value if key not in known]
        for key, each in value.items():
            wrong += violations(each, known.get(key, {}), f"{place}.{key}")
    if isinstance(value, list):
        for number, each in enumerate(value):
            wrong += violations(each, rule.get("items", {}), f"{place}[{number}]")
    return wrong


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    return isinstance(value, _KINDS[kind])
