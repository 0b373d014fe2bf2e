"""Routes under /config, /mode and /contexts."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from magicbyte.http.errors import MALFORMED_BODY
from magicbyte.http.routing.request import Request
from registry import errors
from registry.decide import (
    decide_delete_config,
    decide_delete_context,
    decide_delete_mode,
    decide_put_config,
    decide_put_mode,
)
from registry.decide.configure import matching
from registry.http.answers import answer, config_object, config_update_object
from registry.http.bodies import body_of
from registry.http.request import context_name, flag, page, registry_of, rights_of, settings_subject_of, write_of
from registry.state.model import DEFAULT_CONTEXT, Config, context_of, subject_in
from registry.state.resolve import Origin, effective_config, level_in_effect, mode_in_effect, origin_of


async def get_config(request: Request) -> Response:
    """Return the config of a subject or context; with defaultToGlobal, its effective config."""
    registry, subject = registry_of(request), settings_subject_of(request)
    in_scope = flag(request, "defaultToGlobal")
    if subject is None or in_scope:
        default = registry.terms.default_level
        config = effective_config(registry.view, subject, default, in_scope=in_scope)
        origin = level_in_effect(registry.view, subject, default, in_scope=in_scope)[1]
        return answer(request, config_object(config) | _origin(request, origin))
    own_config = await registry.find(lambda view: view.config(subject))
    if own_config is None:
        raise errors.SUBJECT_CONFIG_NOT_FOUND(subject=subject)
    return answer(request, config_object(own_config) | _origin(request, origin_of(subject)))


def _origin(request: Request, origin: Origin) -> dict[str, str]:
    """The member `origin`, which names the origin of the level or the mode, if the request asks for it."""
    return {"origin": origin.value} if flag(request, "origin") else {}


async def put_config(request: Request) -> Response:
    """Change the config of a subject or context; returns the whole config that is then stored."""
    subject, update, rights = settings_subject_of(request), await body_of(request), rights_of(request)
    alias = update.get("alias")
    if rights is not None and subject is not None and isinstance(alias, str) and alias:
        rights.require(["DESCRIBE"], subject_in(context_of(subject), alias), alias)
    command = partial(decide_put_config, subject=subject, update=update)
    config: Config = await registry_of(request).write(write_of(request), command)
    return answer(request, config_update_object(config))


async def delete_config(request: Request) -> Response:
    """Remove the config of a subject or context; returns the removed config."""
    registry = registry_of(request)
    command = partial(decide_delete_config, subject=settings_subject_of(request), terms=registry.terms)
    config: Config = await registry.write(write_of(request), command)
    return answer(request, config_object(config))


async def get_mode(request: Request) -> Response:
    """Return the mode of a subject or context; with defaultToGlobal, its effective mode."""
    registry, subject = registry_of(request), settings_subject_of(request)
    if subject is None or flag(request, "defaultToGlobal"):
        mode, origin = mode_in_effect(registry.view, subject)
        return answer(request, {"mode": mode.name} | _origin(request, origin))
    own_mode = await registry.find(lambda view: view.mode(subject))
    if own_mode is None:
        raise errors.SUBJECT_MODE_NOT_FOUND(subject=subject)
    return answer(request, {"mode": own_mode} | _origin(request, origin_of(subject)))


async def put_mode(request: Request) -> Response:
    """Set the mode of a subject or context, or clear it with null; returns the mode as the request names it."""
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
    set_mode: str | None = await registry.write(write_of(request), command)
    return answer(request, {} if set_mode is None else {"mode": set_mode})


async def delete_mode(request: Request) -> Response:
    """Remove the mode of a subject or context; returns the removed mode."""
    subject, recursive = settings_subject_of(request), flag(request, "recursive")
    rights, view = rights_of(request), registry_of(request).node.view
    if rights is not None and recursive:
        for name in matching(view.with_modes(), subject):
            rights.require(["ALTER_CONFIGS"], name)
    command = partial(decide_delete_mode, subject=subject, terms=registry_of(request).terms, recursive=recursive)
    removed: str | None = await registry_of(request).write(write_of(request), command)
    return answer(request, {} if removed is None else {"mode": removed})


async def list_contexts(request: Request) -> Response:
    """List the contexts, starting with the default one."""
    registry = registry_of(request)
    prefix = request.query_params.get("contextPrefix", "")
    contexts = registry.view.contexts()
    if rights_of(request) is not None:
        visible = {context_of(subject) for subject in registry.view.subjects()}
        contexts = [context for context in contexts if context in visible]
    selected = [context for context in (DEFAULT_CONTEXT, *contexts) if context.startswith(prefix)]
    return answer(request, page(request, selected, "context"))


async def delete_context(request: Request) -> Response:
    """Delete an empty context."""
    context = context_name(request.match.parameters["context"])
    await registry_of(request).write(write_of(request), partial(decide_delete_context, context=context))
    return Response(status_code=204)
