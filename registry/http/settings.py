"""Routes under /config and /mode, and of contexts."""

from __future__ import annotations

from functools import partial
from urllib.parse import unquote

from fastapi import APIRouter, Request, Response

from magicbyte.http.errors import MALFORMED_BODY
from registry import errors, operations
from registry.decide import (
    decide_delete_config,
    decide_delete_context,
    decide_delete_mode,
    decide_put_config,
    decide_put_mode,
)
from registry.http.answers import answer, config_object, config_update_object
from registry.http.bodies import body_of
from registry.http.request import flag, page, registry_of, settings_subject_of
from registry.model import DEFAULT_CONTEXT, Config
from registry.resolve import effective_config, effective_mode

router = APIRouter()


@router.route("/config", methods=["GET"])
@router.route("/config/{subject}", methods=["GET"])
async def get_config(request: Request) -> Response:
    """The config of a subject or context; with defaultToGlobal, the one that holds for it."""
    registry, subject = registry_of(request), settings_subject_of(request)
    default = registry.terms.default_level
    if subject is None or flag(request, "defaultToGlobal"):
        return answer(request, config_object(effective_config(registry.view, subject, default)))
    found = await registry.find(lambda view: view.config(subject))
    if found is None:
        raise errors.SUBJECT_CONFIG_NOT_FOUND(subject=subject)
    return answer(request, config_object(found))


@router.route("/config", methods=["PUT"])
@router.route("/config/{subject}", methods=["PUT"])
async def put_config(request: Request) -> Response:
    """Change the config of a subject or context; answers all of what is stored then."""
    command = partial(decide_put_config, subject=settings_subject_of(request), update=await body_of(request))
    config: Config = await registry_of(request).write(operations.UPDATE_CONFIG, command)
    return answer(request, config_update_object(config))


@router.route("/config", methods=["DELETE"])
@router.route("/config/{subject}", methods=["DELETE"])
async def delete_config(request: Request) -> Response:
    """Remove the config of a subject or context; answers what it was."""
    registry = registry_of(request)
    command = partial(decide_delete_config, subject=settings_subject_of(request), terms=registry.terms)
    config: Config = await registry.write(operations.DELETE_CONFIG, command)
    return answer(request, config_object(config))


@router.route("/mode", methods=["GET"])
@router.route("/mode/{subject}", methods=["GET"])
async def get_mode(request: Request) -> Response:
    """The mode of a subject or context; with defaultToGlobal, the one that holds for it."""
    registry, subject = registry_of(request), settings_subject_of(request)
    if subject is None or flag(request, "defaultToGlobal"):
        return answer(request, {"mode": effective_mode(registry.view, subject).name})
    found = await registry.find(lambda view: view.mode(subject))
    if found is None:
        raise errors.SUBJECT_MODE_NOT_FOUND(subject=subject)
    return answer(request, {"mode": found})


@router.route("/mode", methods=["PUT"])
@router.route("/mode/{subject}", methods=["PUT"])
async def put_mode(request: Request) -> Response:
    """Set the mode of a subject or context; null clears it. Answers the request's own words."""
    registry, body = registry_of(request), await body_of(request)
    name = body.get("mode")
    if name is not None and not isinstance(name, str):
        raise MALFORMED_BODY(detail="mode must be a string")
    command = partial(
        decide_put_mode,
        subject=settings_subject_of(request),
        name=name,
        terms=registry.terms,
        force=flag(request, "force"),
    )
    set_mode: str | None = await registry.write(operations.UPDATE_MODE, command)
    return answer(request, {} if set_mode is None else {"mode": set_mode})


@router.route("/mode", methods=["DELETE"])
@router.route("/mode/{subject}", methods=["DELETE"])
async def delete_mode(request: Request) -> Response:
    """Remove the mode of a subject or context; answers what it was."""
    subject, recursive = settings_subject_of(request), flag(request, "recursive")
    command = partial(decide_delete_mode, subject=subject, terms=registry_of(request).terms, recursive=recursive)
    removed: str | None = await registry_of(request).write(operations.DELETE_MODE, command)
    return answer(request, {} if removed is None else {"mode": removed})


@router.route("/contexts", methods=["GET"])
async def list_contexts(request: Request) -> Response:
    """The contexts, the default one first."""
    registry = registry_of(request)
    prefix = request.query_params.get("contextPrefix", "")
    found = [each for each in (DEFAULT_CONTEXT, *registry.view.contexts()) if each.startswith(prefix)]
    settings = registry.settings
    limits = {"default_limit": settings.context_search_default_limit, "max_limit": settings.context_search_max_limit}
    return answer(request, page(request, found, **limits))


@router.route("/contexts/{context}", methods=["DELETE"])
async def delete_context(request: Request) -> Response:
    """Forget an empty context."""
    context = context_name(request.path_params["context"])
    await registry_of(request).write(operations.DELETE_CONTEXT, partial(decide_delete_context, context=context))
    return Response(status_code=204)


def context_name(encoded: str) -> str:
    """The name of a context as a path gives it, with or without its leading dot.

    Raises:
        ApiError: 400 where it holds a colon.
    """
    name = unquote(encoded)
    if ":" in name.removeprefix(":.").removesuffix(":"):
        raise errors.CONTEXT_WITH_COLON(context=name)
    bare = name.removeprefix(":").removesuffix(":")
    return bare if bare.startswith(".") else f".{bare}"
