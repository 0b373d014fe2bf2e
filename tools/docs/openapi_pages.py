"""Pages of the HTTP APIs in Markdown, from the OpenAPI documents: readable without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from tools.docs.schema_words import cell, schema_words

METHODS = ("get", "head", "put", "post", "patch", "delete", "options")


def openapi_page(document: Mapping[str, Any], name: str) -> str:
    """Return the page of an API.

    Args:
        document: the OpenAPI document, as it was read from YAML.
        name: a name for the anchors of the page's schemas, such as `registry`.

    """
    return (
        "\n".join(chain(_head(document, name), _operations(document, name), _schemas(document, name))).rstrip() + "\n"
    )


def _head(document: Mapping[str, Any], name: str) -> Iterator[str]:
    info = document["info"]
    yield f"# HTTP API: {info['title']}\n"
    yield f"{info.get('description', '')}\n"
    yield f"Version {info['version']}, from the OpenAPI document that the server has at `/openapi.json`.\n"
    used = {parameter.get("$ref") for _, _, operation in _all(document) for parameter in operation["parameters"]}
    everywhere = [
        parameter
        for key, parameter in document["components"].get("parameters", {}).items()
        if f"#/components/parameters/{key}" not in used
    ]
    if everywhere:
        yield "Every operation has these parameters:\n"
        yield from _parameters(everywhere, name)


def _operations(document: Mapping[str, Any], name: str) -> Iterator[str]:
    meanings = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
    for tag in _tags(document):
        yield f"## {tag[:1].upper()}{tag[1:]}\n"
        if meanings.get(tag):
            yield f"{_sentence(meanings[tag])}\n"
        for path, method, operation in _all(document):
            if tag in operation.get("tags", ("other",)):
                yield from _operation(document, name, path, method, operation)


def _tags(document: Mapping[str, Any]) -> Sequence[str]:
    """The tags that some operation has, in the order of the document."""
    used = [tag for _, _, operation in _all(document) for tag in operation.get("tags", ("other",))]
    declared = [tag["name"] for tag in document.get("tags", ())]
    return [tag for tag in dict.fromkeys([*declared, *used]) if tag in used]


def _all(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                shared = item.get("parameters", [])
                yield path, method, item[method] | {"parameters": [*shared, *item[method].get("parameters", [])]}


def _operation(
    document: Mapping[str, Any], name: str, path: str, method: str, operation: Mapping[str, Any]
) -> Iterator[str]:
    yield f"### `{method.upper()} {path}`\n"
    for text in (operation.get("summary"), operation.get("description")):
        if text:
            yield f"{_sentence(text)}\n"
    parameters = [_resolved(document, parameter) for parameter in operation["parameters"]]
    if parameters:
        yield from _parameters(parameters, name)
    if "requestBody" in operation:
        body = _resolved(document, operation["requestBody"])
        need = "required" if body.get("required") else "may be left out"
        yield f"Body ({need}): {_content(body.get('content', {}), name)}\n"
    yield "| answer | meaning | body |\n|---|---|---|"
    for status, given in operation["responses"].items():
        response = _resolved(document, given)
        words = _content(response.get("content", {}), name)
        yield f"| {'errors' if status == 'default' else status} | {cell(response['description'])} | {words} |"
    yield ""


def _parameters(parameters: Sequence[Mapping[str, Any]], name: str) -> Iterator[str]:
    yield "| parameter | in | type | meaning |\n|---|---|---|---|"
    for parameter in parameters:
        required = ", required" if parameter.get("required") and parameter["in"] != "path" else ""
        words = schema_words(parameter.get("schema", {}), name)
        meaning = cell(parameter.get("description", ""))
        yield f"| `{parameter['name']}` | {parameter['in']}{required} | {words} | {meaning} |"
    yield ""


def _content(content: Mapping[str, Any], name: str) -> str:
    """The forms of a body: each schema once, with its media types."""
    types: dict[str, list[str]] = {}
    for media_type, form in content.items():
        types.setdefault(schema_words(form.get("schema", {}), name), []).append(f"`{media_type}`")
    return "; ".join(f"{words} as {', '.join(media_types)}" for words, media_types in types.items()) or "none"


def _schemas(document: Mapping[str, Any], name: str) -> Iterator[str]:
    yield "## Objects\n"
    for title, schema in document["components"].get("schemas", {}).items():
        yield f"(api-{name}-{title.lower()})=\n### {title}\n"
        if schema.get("description"):
            yield f"{_sentence(schema['description'])}\n"
        properties = schema.get("properties", {})
        if not properties:
            yield f"{schema_words(schema, name)}\n"
            continue
        yield "| property | type | meaning |\n|---|---|---|"
        for key, value in properties.items():
            need = " (required)" if key in schema.get("required", ()) else ""
            yield f"| `{key}`{need} | {schema_words(value, name)} | {cell(value.get('description', ''))} |"
        yield ""


def _resolved(document: Mapping[str, Any], value: Mapping[str, Any]) -> Mapping[str, Any]:
    """A value, or what it refers to."""
    reference = value.get("$ref")
    if reference is None:
        return value
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return _resolved(document, found)


def _sentence(text: str) -> str:
    return text.strip() if text.strip().endswith((".", "?", "!", ":")) else f"{text.strip()}."
