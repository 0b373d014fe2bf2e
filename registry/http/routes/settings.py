"""Routes under /config, /mode and /contexts."""

from __future__ import annotations

from functools import partial

from starlette.responses import Response

from magicbyte.http.routing.request import Request
from magicbyte.http.routing.response import Json
from registry import errors
from registry.decide import (
    decide_delete_config,
    decide_delete_context,
    decide_delete_mode,
    decide_put_config,
    decide_put_mode,
)
from registry.decide.configure import matching
from registry.http import models
from registry.http.answers import answer, config_object, config_update_object
from registry.http.parameters import (
    ContextName,
    ContextPrefix,
    DefaultToGlobal,
    Force,
    Limit,
    Offset,
    Recursive,
    SettingsSubject,
    WithOrigin,
)
from registry.http.parameters.bodies import ConfigBody, ModeBody
from registry.http.request import page, registry_of, rights_of, write_of
from registry.state.model import DEFAULT_CONTEXT, Config, context_of, subject_in
from registry.state.resolve import Origin, effective_config, level_in_effect, mode_in_effect, origin_of


async def get_config(
    request: Request, *, subject: SettingsSubject, in_scope: DefaultToGlobal = False, names_origin: WithOrigin = False
) -> Json[models.Config]:
    """The config."""
    registry = registry_of(request)
    if subject is None or in_scope:
        default = registry.terms.default_level
        config = effective_config(registry.view, subject, default, in_scope=in_scope)
        origin = level_in_effect(registry.view, subject, default, in_scope=in_scope)[1]
        return answer(request, config_object(config) | _origin(origin, is_asked=names_origin))
    own_config = await registry.find(lambda view: view.config(subject))
    if own_config is None:
        raise errors.SUBJECT_CONFIG_NOT_FOUND(subject=subject)
    return answer(request, config_object(own_config) | _origin(origin_of(subject), is_asked=names_origin))


def _origin(origin: Origin, *, is_asked: bool) -> dict[str, str]:
    """The member `origin`, which names the origin of the level or the mode, if the request asks for it."""
    return {"origin": origin.value} if is_asked else {}


async def put_config(
    request: Request, *, subject: SettingsSubject, update: ConfigBody
) -> Json[models.ConfigUpdateRequest]:
    """Change the config."""
    rights = rights_of(request)
    alias = update.get("alias")
    if rights is not None and subject is not None and alias:
        rights.require(["DESCRIBE"], subject_in(context_of(subject), alias), alias)
    command = partial(decide_put_config, subject=subject, update=update)
    config: Config = await registry_of(request).write(write_of(request), command)
    return answer(request, config_update_object(config))


async def delete_config(request: Request, *, subject: SettingsSubject) -> Json[models.Config]:
    """Remove the config; answers what it was."""
    registry = registry_of(request)
    command = partial(decide_delete_config, subject=subject, terms=registry.terms)
    config: Config = await registry.write(write_of(request), command)
    return answer(request, config_object(config))


async def get_mode(
    request: Request, *, subject: SettingsSubject, in_scope: DefaultToGlobal = False, names_origin: WithOrigin = False
) -> Json[models.Mode]:
    """The mode."""
    registry = registry_of(request)
    if subject is None or in_scope:
        mode, origin = mode_in_effect(registry.view, subject)
        return answer(request, {"mode": mode.name} | _origin(origin, is_asked=names_origin))
    own_mode = await registry.find(lambda view: view.mode(subject))
    if own_mode is None:
        raise errors.SUBJECT_MODE_NOT_FOUND(subject=subject)
    return answer(request, {"mode": own_mode} | _origin(origin_of(subject), is_asked=names_origin))


async def put_mode(
    request: Request, *, body: ModeBody, subject: SettingsSubject, force: Force = False
) -> Json[models.Mode]:
    """Change the mode."""
    registry = registry_of(request)
    command = partial(decide_put_mode, subject=subject, name=body.get("mode"), terms=registry.terms, force=force)
    set_mode: str | None = await registry.write(write_of(request), command)
    return answer(request, {} if set_mode is None else {"mode": set_mode})


async def delete_mode(request: Request, *, subject: SettingsSubject, recursive: Recursive = False) -> Json[models.Mode]:
    """Remove the mode; answers what it was."""
    rights, view = rights_of(request), registry_of(request).node.view
    if rights is not None and recursive:
        for name in matching(view.with_modes(), subject):
            rights.require(["ALTER_CONFIGS"], name)
    command = partial(decide_delete_mode, subject=subject, terms=registry_of(request).terms, recursive=recursive)
    removed: str | None = await registry_of(request).write(write_of(request), command)
    return answer(request, {} if removed is None else {"mode": removed})


async def list_contexts(
    request: Request, *, prefix: ContextPrefix = "", offset: Offset = 0, limit: Limit = -1
) -> Json[models.Names]:
    """The contexts, the default one first."""
    registry = registry_of(request)
    contexts = registry.view.contexts()
    if rights_of(request) is not None:
        visible = {context_of(subject) for subject in registry.view.subjects()}
        contexts = [context for context in contexts if context in visible]
    selected = [context for context in (DEFAULT_CONTEXT, *contexts) if context.startswith(prefix)]
    return answer(request, page(registry.settings, selected, "context", offset, limit))


async def delete_context(request: Request, *, context: ContextName) -> Response:
    """Forget an empty context."""
    await registry_of(request).write(write_of(request), partial(decide_delete_context, context=context))
    return Response(status_code=204)
