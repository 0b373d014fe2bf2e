"""The OpenAPI document of a server, made from its rows and from what their endpoints declare."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import chain, count
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
import yaml
from fastapi.dependencies.models import Dependant
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from magicbyte.http.routing.response import Json, NoContent
from magicbyte.http.routing.rows import Row
from magicbyte.http.routing.solved import SolvedRoute

_REFERENCE = "#/components/schemas/{model}"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that an endpoint's return type does not describe.

    Attributes:
        description: The description of the answer.
        model: The type of the body in the media types that the row negotiates; None if there is no such body.
        by_media_type: Media type -> the type of the body in a media type that the handler chooses.
        headers: Name -> the header's description, or its description with its schema.
    """

    description: str
    model: Any = None
    by_media_type: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str | Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MediaTypes:
    """The media types of the rows with one `Negotiate`: what they produce, and what they consume."""

    produced: Sequence[str] = ()
    consumed: Sequence[str] = ()


class _Generator(GenerateJsonSchema):
    """Schemas without the titles that pydantic makes of field names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  the base class passes it
        """Return False: a field has no title."""
        return False


class _Dumper(yaml.SafeDumper):
    """Writes equal parts in full, because an anchor has no name that says what it stands for."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002  the base class passes it
        """Return True: no part is an alias."""
        return True


def to_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as the text of its file."""
    return yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=120, allow_unicode=True)


@dataclass(frozen=True, slots=True)
class _Body:
    """A body that a dependency reads.

    Attributes:
        model: The type of the body; the dependency's `model`, which only such dependencies have.
        by_media_type: Media type -> the type of the body instead; its `model_by_media_type`, if it has one.
        is_required: Whether the body is required; its `is_required`, if it has one.
    """

    model: Any
    by_media_type: Mapping[str, Any]
    is_required: bool

    @classmethod
    def all_of(cls, dependant: Dependant) -> Iterable[_Body]:
        """The bodies that an endpoint's dependencies read."""
        for dependency in dependant.dependencies:
            read = dependency.call
            if getattr(read, "model", None) is not None:
                yield cls(read.model, getattr(read, "model_by_media_type", {}), getattr(read, "is_required", True))  # type: ignore[union-attr]
            yield from cls.all_of(dependency)


def _answered(endpoint: Callable[..., Any]) -> dict[int, Answer]:
    """The answer that an endpoint's return type describes, by status; empty if it does not describe one."""
    returned = get_type_hints(endpoint, include_extras=True).get("return")
    if returned is NoContent:
        return {HTTPStatus.NO_CONTENT: Answer("It is done.")}
    origin = get_origin(returned)
    if not (inspect.isclass(origin) and issubclass(origin, Json)):
        return {}
    (model,) = get_args(returned)
    return {HTTPStatus.OK: Answer(_description_of(model), model)}


@dataclass(frozen=True, kw_only=True)
class Description:
    """The parts of an OpenAPI document besides its operations.

    Attributes:
        info: The document's `info`.
        tags: The document's tags, with their descriptions.
        error: The model of errors.
        error_media_types: The media types of errors.
        media_types: What the rows' `media_types` produce and consume.
        answers: Operation id -> status -> the answer, where the endpoint's return type does not describe it.
        tag_of: Operation id -> its tag.
        parameters: Name -> a parameter of every operation, which no endpoint declares.
        error_text: The description of the answer with an error.
        servers: The document's servers; empty for the one that serves the document.
    """

    info: Mapping[str, Any]
    tags: Sequence[Mapping[str, str]]
    error: Any
    error_media_types: Sequence[str]
    media_types: Mapping[Any, MediaTypes]
    answers: Mapping[str, Mapping[int, Answer]]
    tag_of: Callable[[Row], str]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    error_text: str = "The error."
    servers: Sequence[Mapping[str, str]] = ()

    def document(self, rows: Iterable[Row]) -> dict[str, Any]:
        """Make the OpenAPI document of rows."""
        writer = _Writer(self)
        paths: dict[str, dict[str, Any]] = {}
        for row in rows:
            route = SolvedRoute(row)
            paths.setdefault(route.path_format, {})[row.method.lower()] = writer.operation(row, route)
        return {
            "openapi": "3.1.0",
            "info": dict(self.info),
            **({"servers": [dict(server) for server in self.servers]} if self.servers else {}),
            "tags": [dict(tag) for tag in self.tags],
            "paths": paths,
            "components": {
                "parameters": writer.parameters,
                "responses": {"Error": writer.response(Answer(self.error_text, self.error), self.error_media_types)},
                "schemas": dict(sorted(writer.schemas.items())),
            },
        }


class _Writer:
    """Writes operations, and gathers the components that they name."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self.parameters: dict[str, Any] = {name: dict(value) for name, value in description.parameters.items()}
        self.schemas: dict[str, Any] = {}

    def operation(self, row: Row, route: SolvedRoute) -> dict[str, Any]:
        """Write one operation."""
        endpoint = route.endpoint
        media_types = self._description.media_types[row.media_types]
        summary, _, more = (inspect.getdoc(endpoint) or "").partition("\n")
        operation: dict[str, Any] = {
            "operationId": row.operation_id,
            "tags": [self._description.tag_of(row)],
            "summary": summary,
        }
        if more.strip():
            operation["description"] = _one_line(more)
        parameters = [self._shared(parameter) for parameter in _parameters(route)]
        if parameters:
            operation["parameters"] = parameters
        for body in _Body.all_of(route.dependant):
            content = self._content(body.model, media_types.consumed)
            for media_type, model in body.by_media_type.items():
                content |= self._content(model, [media_type])
            operation["requestBody"] = {**({"required": True} if body.is_required else {}), "content": content}
        operation["responses"] = self._responses(row, endpoint, media_types)
        return operation

    def _shared(self, parameter: dict[str, Any]) -> dict[str, Any]:
        """Return the reference to a parameter among the components; equal parameters are one component."""
        name = parameter["name"]
        keys = chain((name, f"{name}-in-{parameter['in']}"), (f"{name}-{number}" for number in count(2)))
        key = next(key for key in keys if self.parameters.setdefault(key, parameter) == parameter)
        return {"$ref": f"#/components/parameters/{key}"}

    def _responses(self, row: Row, endpoint: Callable[..., Any], media_types: MediaTypes) -> dict[str, Any]:
        answers = dict(self._description.answers.get(row.operation_id, {}))
        if not any(200 <= status < 300 for status in answers):
            answers |= _answered(endpoint)
        return {
            **{str(int(status)): self.response(answers[status], media_types.produced) for status in sorted(answers)},
            "default": {"$ref": "#/components/responses/Error"},
        }

    def response(self, answer: Answer, media_types: Sequence[str]) -> dict[str, Any]:
        """Write one response."""
        response: dict[str, Any] = {"description": answer.description}
        if answer.headers:
            response["headers"] = {
                name: {"description": header, "schema": {"type": "string"}} if isinstance(header, str) else dict(header)
                for name, header in answer.headers.items()
            }
        content = {} if answer.model is None else self._content(answer.model, media_types)
        for media_type, model in answer.by_media_type.items():
            content |= self._content(model, [media_type])
        if content:
            response["content"] = content
        return response

    def _content(self, model: Any, media_types: Sequence[str]) -> dict[str, Any]:
        schema = _schema_of(model)
        _in_one_line(schema)
        self.schemas |= schema.pop("$defs", {})
        title = schema.pop("title", None)
        if title is not None and schema.get("type") == "object":
            self.schemas[title] = schema
            schema = {"$ref": _REFERENCE.format(model=title)}
        else:
            schema.pop("description", None)
        for named in self.schemas.values():
            named.pop("title", None)
        return {media_type: {"schema": schema} for media_type in media_types}


def _schema_of(model: Any) -> dict[str, Any]:
    """The JSON Schema of a type; its `$defs` are the components that it refers to."""
    kind = get_args(model)[0] if get_origin(model) is Annotated else model
    if not (inspect.isclass(kind) and issubclass(kind, msgspec.Struct)):
        return TypeAdapter(model).json_schema(ref_template=_REFERENCE, schema_generator=_Generator)
    (schema,), components = msgspec.json.schema_components(
        [model], schema_hook=_schema_of_text, ref_template=_REFERENCE.format(model="{name}")
    )
    _without_null_defaults(components)
    return {**schema, "$defs": components}


def _schema_of_text(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type of strings that a body's decoder converts."""
    if issubclass(kind, str):
        return {"type": "string"}
    raise NotImplementedError(kind)


def _without_null_defaults(schema: Any) -> None:
    """Remove the default null, which says no more than that the member is optional."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        _without_null_defaults(part)
    if isinstance(schema, dict) and schema.get("default", ...) is None:
        del schema["default"]


def _parameters(route: SolvedRoute) -> list[dict[str, Any]]:
    """FastAPI's description of a route's parameters."""
    [path] = get_openapi(title="", version="", routes=[route])["paths"].values()
    [operation] = path.values()
    parameters: list[dict[str, Any]] = operation.get("parameters", [])
    for parameter in parameters:
        for member in ("title", "description"):
            parameter["schema"].pop(member, None)
        if not parameter["required"]:
            del parameter["required"]
    return parameters


def _description_of(model: Any) -> str:
    """The description of a type: of its annotation, or its docstring."""
    if get_origin(model) is Annotated:
        for part in get_args(model)[1:]:
            if isinstance(part, FieldInfo) and part.description:
                return part.description
    return _one_line(inspect.getdoc(model) or "") if inspect.isclass(model) else "An object."


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _in_one_line(schema: Any) -> None:
    """Undo the line breaks of the docstrings that describe a schema's parts."""
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        _in_one_line(part)
    if isinstance(schema, dict) and isinstance(schema.get("description"), str):
        schema["description"] = _one_line(schema["description"])
