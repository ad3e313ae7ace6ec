"""As much of JSON Schema as cli/schema.json uses."""

from collections.abc import Iterator
from typing import Any

TYPES = {"object": dict, "array": list, "string": str, "null": type(None)}


def faults(value: Any, schema: dict[str, Any], root: dict[str, Any], at: str = "$") -> Iterator[str]:
    """What is wrong with a value, with its place."""
    if "$ref" in schema:
        target: Any = root
        for word in schema["$ref"].removeprefix("#/").split("/"):
            target = target[word]
        yield from faults(value, target, root, at)
    if "const" in schema and value != schema["const"]:
        yield f"{at}: expected {schema['const']!r}, found {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{at}: expected one of {schema['enum']}, found {value!r}"
    if "type" in schema and not is_a(value, schema["type"]):
        yield f"{at}: expected {schema['type']}, found {value!r}"
        return
    for key, least, most in (("anyOf", 1, 99), ("oneOf", 1, 1)):
        if key in schema:
            fitting = [part for part in schema[key] if not list(faults(value, part, root, at))]
            if not least <= len(fitting) <= most:
                yield f"{at}: fits {len(fitting)} of {key}: {str(value)[:200]}"
    if isinstance(value, dict):
        yield from _of_object(value, schema, root, at)
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            yield from faults(item, schema["items"], root, f"{at}[{number}]")


def _of_object(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any], at: str) -> Iterator[str]:
    known = schema.get("properties", {})
    yield from (f"{at}: {key} is missing" for key in schema.get("required", ()) if key not in value)
    for key, item in value.items():
        if key in known:
            yield from faults(item, known[key], root, f"{at}.{key}")
        elif schema.get("additionalProperties") is False:
            yield f"{at}: unknown {key}"


def is_a(value: Any, kind: str) -> bool:
    """Whether a value is of a type of JSON's."""
    if kind == "boolean":
        return isinstance(value, bool)
    if kind in ("integer", "number"):
        return isinstance(value, int if kind == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[kind])
