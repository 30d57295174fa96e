# Part of the netc project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

# Checks the JSON on stdin against a schema: those keywords of JSON Schema that
# report.schema.json uses, and no other.

import json
import re
import sys

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
    "$schema", "$defs", "$ref", "title", "description", "type", "const", "enum", "anyOf",
    "required", "properties", "additionalProperties", "items",
}


def is_of(value, name):
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, TYPES[name])


def errors(value, schema, root, path):
    unknown = set(schema) - KNOWN
    if unknown:
        raise ValueError(f"{path}: keywords {unknown} are not supported")
    if "$ref" in schema:
        name = re.fullmatch(r"#/\$defs/(\w+)", schema["$ref"]).group(1)
        yield from errors(value, root["$defs"][name], root, path)
    if "type" in schema:
        names = schema["type"]
        names = names if isinstance(names, list) else [names]
        if not any(is_of(value, name) for name in names):
            yield f"{path}: {value!r} is no {' or '.join(names)}"
            return
    if "const" in schema and value != schema["const"]:
        yield f"{path}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{path}: {value!r} is not one of {schema['enum']}"
    if "anyOf" in schema:
        if all(list(errors(value, option, root, path)) for option in schema["anyOf"]):
            yield f"{path}: {value!r} fits no choice"
    if isinstance(value, dict):
        for name in schema.get("required", []):
            if name not in value:
                yield f"{path}: `{name}` is missing"
        properties = schema.get("properties", {})
        for name, item in value.items():
            rule = properties.get(name, schema.get("additionalProperties", True))
            if rule is False:
                yield f"{path}: `{name}` is not in the schema"
            elif rule is not True:
                yield from errors(item, rule, root, f"{path}.{name}")
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from errors(item, schema["items"], root, f"{path}[{i}]")


with open(sys.argv[1]) as file:
    schema = json.load(file)
found = list(errors(json.load(sys.stdin), schema, schema, "$"))
print("\n".join(found) or "valid")
sys.exit(bool(found))
