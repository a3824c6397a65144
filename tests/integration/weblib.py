# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of the web listener share: asking it, and schemas of its answers.

service/web/schemas.json is made of answers that were seen, and docs/openapi.json is what a
master says of itself: TRIAD_SCHEMAS=write has the tests of test_web.py, in one process, write
what they see in the place of complaining.  What they wrote is in force after a build: then
once more."""

import contextlib
import http.client
import json
import os

import jsonschema

from labs import SRCDIR

SCHEMAS = SRCDIR / "service" / "web" / "schemas.json"
DOCUMENT = SRCDIR / "docs" / "openapi.json"
_IS_WRITING = os.environ.get("TRIAD_SCHEMAS") == "write"


def get(address, path, headers=None, method="GET"):
    """The response, with its 'body'."""
    with contextlib.closing(http.client.HTTPConnection(address, timeout=60)) as connection:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        response.body = response.read()
        return response


def get_json(address, path, **options):
    response = get(address, path, **options)
    assert response.status == 200, (path, response.status, response.body)
    return json.loads(response.body)


# Objects whose members have names of the site's own, or one for each key.
_MAPS = {"groups", "values"}


# --- schemas, as OpenAPI 3.0 has them ------------------------------------------

def _infer(value):
    """Whatever is not known at some time is null then, so each single value may be."""
    if value is None:
        return {"nullable": True}
    if isinstance(value, bool):
        return {"type": "boolean", "nullable": True}
    if isinstance(value, (int, float)):
        return {"type": "number", "nullable": True}
    if isinstance(value, str):
        return {"type": "string", "nullable": True}
    if isinstance(value, list):
        items = {}
        for item in value:
            items = _merge(items, _infer(item))
        return {"type": "array", "items": items}
    return _object({name: {"type": "object"} if name in _MAPS and isinstance(item, dict)
                    else _infer(item) for name, item in value.items()}, set(value))


def _object(properties, required):
    """An empty list of what is required is not allowed."""
    return {"type": "object", "properties": properties,
            **({"required": sorted(required)} if required else {})}


def _merge(a, b):
    """What fits either; what says nothing of a type fits all."""
    nullable = {"nullable": True} if a.get("nullable") or b.get("nullable") else {}
    a, b = ({name: value for name, value in it.items() if name != "nullable"}
            for it in (a, b))
    if not a or not b:
        return {**(a or b), **nullable}
    assert a["type"] == b["type"], f"{a} or {b}"
    if a["type"] == "array":
        return {"type": "array", "items": _merge(a["items"], b["items"]), **nullable}
    if "properties" not in a:
        return {**a, **nullable}
    properties = {name: _merge(a["properties"].get(name, {}), b["properties"].get(name, {}))
                  for name in {**a["properties"], **b["properties"]}}
    required = set(a.get("required", ())) & set(b.get("required", ()))
    return {**_object(properties, required), **nullable}


def _to_json_schema(schema):
    """JSON Schema has types that may be null in another way."""
    if isinstance(schema, list):
        return [_to_json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _to_json_schema(value) for name, value in schema.items()
             if name != "nullable" or not isinstance(value, bool)}
    # Clients skip what they don't know; here each member is to be described.
    if isinstance(plain.get("properties"), dict) and plain.get("type") == "object":
        plain["additionalProperties"] = False
    if schema.get("nullable") is not True:
        return plain
    return {"anyOf": [{"type": "null"}, plain]} if "type" in plain else {}


def _learn(name, value):
    schemas = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    schemas[name] = _merge(schemas.get(name, {}), _infer(value))
    SCHEMAS.write_text(json.dumps(schemas, indent=1, sort_keys=True) + "\n",
                       encoding="utf-8")


def check_schema(description, reference, value, what):
    """That a value is as the description says; 'reference' is of a schema in it."""
    assert reference.startswith("#/components/schemas/"), reference
    name = reference.rsplit("/", 1)[1]
    if _IS_WRITING:
        _learn(name, value)
        return
    schemas = description["components"]["schemas"]
    assert name in schemas, f"no schema {name} (see weblib.py)"
    schema = _to_json_schema(schemas[name])
    jsonschema.Draft4Validator.check_schema(schema)
    try:
        jsonschema.validate(value, schema)
    except jsonschema.ValidationError as error:
        place = "/".join(map(str, error.path))
        raise AssertionError(f"{what}: {error.message[:300]} at {place}; if the answer is "
                             "right, see weblib.py") from None


def check_document(description):
    """That what is installed as a document is what a master says."""
    if _IS_WRITING:
        DOCUMENT.write_text(json.dumps(description, indent=1) + "\n", encoding="utf-8")
    installed = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    # A release changes the version alone.
    installed["info"]["version"] = description["info"]["version"]
    assert installed == description, f"{DOCUMENT} is of another Triad; see weblib.py"
