"""The registry's routes, one row each. All except those of the server also exist under `/contexts/NAME`."""

from __future__ import annotations

import inspect
from functools import partial, wraps
from typing import Any

from starlette.responses import Response

from magicbyte.http.routing.access import OPEN, SIGNED_IN, Access, Operation, Resource
from magicbyte.http.routing.rows import BodyLimit, Endpoint, Row, Streams
from registry.http.answers import negotiated, negotiated_if_possible, negotiated_lines, unnegotiated
from registry.http.parameters import SettingsContext
from registry.http.request import RegistryRow
from registry.http.routes import (
    access_rules,
    administration,
    compatibility,
    declared,
    events,
    graph,
    outlines,
    overview,
    repair,
    rights,
    rules,
    schemas,
    search,
    server,
    settings,
    subjects,
    transfer,
)
from registry.service import WriteTexts

_SUBJECT, _REGISTRY = partial(Access, resource=Resource.SUBJECT), partial(Access, resource=Resource.REGISTRY)
_READ, _DELETE, _DESCRIBE = (
    _SUBJECT(operation) for operation in (Operation.READ, Operation.DELETE, Operation.DESCRIBE)
)
_WRITE = _SUBJECT(Operation.WRITE)
#: WRITE suffices: by registering a schema, a client can learn anyway whether it is registered.
_READ_OR_WRITE = _SUBJECT(Operation.READ | Operation.WRITE)
_READ_AND_WRITE = _SUBJECT(Operation.READ, also=_WRITE)
_UNDELETE = _SUBJECT(Operation.WRITE, also=_DELETE)
_LIST, _LIST_READABLE = _SUBJECT(Operation.DESCRIBE, filters=True), _SUBJECT(Operation.READ, filters=True)
#: Each line of an import needs its own rights, so the handler checks them.
_IMPORT = _SUBJECT(Operation.WRITE, filters=True, also=_SUBJECT(Operation.ALTER_CONFIGS, filters=True))
_READ_SETTINGS, _CHANGE_SETTINGS = _SUBJECT(Operation.DESCRIBE_CONFIGS), _SUBJECT(Operation.ALTER_CONFIGS)
_READ_DEFAULTS, _CHANGE_DEFAULTS = _REGISTRY(Operation.DESCRIBE_CONFIGS), _REGISTRY(Operation.ALTER_CONFIGS)
_DESCRIBE_REGISTRY, _ALTER_REGISTRY = _REGISTRY(Operation.DESCRIBE), _REGISTRY(Operation.ALTER)


def _schemas(name: str, writing: str, forwarded: str = "register schema", *, is_repeatable: bool = True) -> WriteTexts:
    """The texts for a write of schemas."""
    failed = f"{writing} operation failed while writing to {{store}}"
    return WriteTexts(f"{name} operation timed out", failed, forwarded, is_repeatable=is_repeatable)


def _settings(verb: str, noun: str, forwarded: str) -> WriteTexts:
    """The texts for a write of settings."""
    failed = f"Failed to {verb} {noun}"
    name = f"{verb} {noun}".capitalize()
    return WriteTexts(f"{name} operation timed out", failed, forwarded, failed, is_repeatable=verb == "update")


_REGISTER = _schemas("Register", "Register schema")
_UNDELETING = _schemas("Undelete", "Undelete")
_UPDATE_CONFIG = _settings("update", "compatibility level", "update config")
_DELETE_CONFIG = _settings("delete", "compatibility level", "delete config")
_UPDATE_MODE, _DELETE_MODE = _settings("update", "mode", "update mode"), _settings("delete", "mode", "delete mode")
_DELETE_SUBJECT = _schemas("Delete subject", "Delete subject", "delete subject", is_repeatable=False)
_DELETE_VERSION = _schemas(
    "Delete Schema Version", "Delete Schema Version", "delete schema version", is_repeatable=False
)
_DELETE_CONTEXT = _schemas("Delete context", "Delete context", "delete subject", is_repeatable=False)
_IMPORTING = _schemas("Import", "Import")
_ADD_RULES = _schemas("Add rules", "Add rules", "add rules")
_REMOVE_RULES = _schemas("Remove rules", "Remove rules", "remove rules", is_repeatable=False)
_REPLACE_RULES = _schemas("Replace rules", "Replace rules", "replace rules", is_repeatable=False)

_REPAIR = _schemas("Repair", "Repair", "repair")

_read = partial(Row, "GET", media_types=negotiated)
_probe = partial(Row, "GET", access=OPEN, media_types=negotiated_if_possible)
_remembered = partial(Row, "GET", media_types=negotiated, is_remembered=True)
_ask = partial(Row, "POST", media_types=negotiated)
_post, _put, _delete = (partial(RegistryRow, method, media_types=negotiated) for method in ("POST", "PUT", "DELETE"))


def _without_subject(endpoint: Endpoint) -> Endpoint:
    """The same endpoint for the path that names no subject."""
    signature = inspect.signature(endpoint, eval_str=True)
    parameters = [
        parameter.replace(annotation=SettingsContext) if parameter.name == "subject" else parameter
        for parameter in signature.parameters.values()
    ]

    @wraps(endpoint)
    async def of_context(**arguments: Any) -> Response:
        return await endpoint(**arguments)

    of_context.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return of_context


_VERSIONS = "/subjects/{subject}/versions"
_VERSION = f"{_VERSIONS}/{{version}}"

ROWS: tuple[Row, ...] = (
    _read("/subjects", "listSubjects", _LIST, subjects.list_subjects),
    _ask(
        "/subjects/{subject}",
        "lookUpSchema",
        _READ_OR_WRITE,
        subjects.look_up_schema,
        is_remembered=True,
        declared=declared.look_up_schema,
    ),
    _delete("/subjects/{subject}", "deleteSubject", _DELETE, subjects.delete_subject, write=_DELETE_SUBJECT),
    _remembered(_VERSIONS, "listVersions", _DESCRIBE, subjects.list_versions, declared=declared.list_versions),
    _post(
        _VERSIONS,
        "registerSchema",
        _WRITE,
        subjects.register_schema,
        write=_REGISTER,
        declared=declared.register_schema,
    ),
    _remembered(_VERSION, "getVersion", _READ, subjects.get_version, declared=declared.get_version),
    _delete(_VERSION, "deleteVersion", _DELETE, subjects.delete_version, write=_DELETE_VERSION),
    _remembered(f"{_VERSION}/outline", "getVersionOutline", _READ, outlines.get_version_outline),
    _post(f"{_VERSION}/tags", "tagVersion", _READ_AND_WRITE, subjects.tag_version, write=_REGISTER),
    _remembered(f"{_VERSION}/schema", "getVersionText", _READ, subjects.get_version_schema),
    _remembered(f"{_VERSION}/referencedby", "listReferrers", _DESCRIBE, subjects.list_referrers),
    _read("/subjects/{subject}/compare", "compareVersions", _READ, outlines.compare_versions),
    _ask("/subjects/{subject}/compare", "compareText", _READ, outlines.compare_text),
    _remembered(f"{_VERSION}/graph", "getGraph", _READ, graph.get_graph),
    _remembered("/subjects/{subject}/referencedby", "listHolders", _DESCRIBE, graph.list_holders),
    _remembered("/subjects/{subject}/metadata", "getLatestWithMetadata", _READ, subjects.get_latest_with_metadata),
    _post("/subjects/{subject}/undelete", "undeleteSubject", _UNDELETE, subjects.undelete_subject, write=_UNDELETING),
    _post(f"{_VERSION}/undelete", "undeleteVersion", _UNDELETE, subjects.undelete_version, write=_UNDELETING),
    _read("/schemas", "listSchemas", _LIST_READABLE, schemas.list_schemas),
    _read("/schemas/types", "listTypes", SIGNED_IN, schemas.list_types),
    _remembered("/schemas/ids/{id}", "getById", _READ, schemas.get_by_id, declared=declared.get_by_id),
    _remembered("/schemas/ids/{id}/schema", "getTextById", _READ, schemas.get_text_by_id),
    _remembered("/schemas/ids/{id}/subjects", "listSubjectsById", _LIST_READABLE, schemas.list_subjects_by_id),
    _remembered("/schemas/ids/{id}/versions", "listVersionsById", _LIST_READABLE, schemas.list_versions_by_id),
    _read("/schemas/guids/{guid}", "getByGuid", _READ, schemas.get_by_guid),
    _read("/schemas/guids/{guid}/ids", "listIdsByGuid", _LIST_READABLE, schemas.list_ids_by_guid),
    _ask(f"/compatibility{_VERSION}", "checkAgainstVersion", _READ, compatibility.check_against_version),
    _ask(f"/compatibility{_VERSIONS}", "checkAgainstAll", _READ, compatibility.check_against_all),
    _read("/config", "getGlobalConfig", _READ_DEFAULTS, _without_subject(settings.get_config)),
    _put("/config", "putGlobalConfig", _CHANGE_DEFAULTS, _without_subject(settings.put_config), write=_UPDATE_CONFIG),
    _delete(
        "/config",
        "deleteGlobalConfig",
        _CHANGE_DEFAULTS,
        _without_subject(settings.delete_config),
        write=_DELETE_CONFIG,
    ),
    _read("/config/{subject}", "getSubjectConfig", _READ_SETTINGS, settings.get_config),
    _put("/config/{subject}", "putSubjectConfig", _CHANGE_SETTINGS, settings.put_config, write=_UPDATE_CONFIG),
    _delete("/config/{subject}", "deleteSubjectConfig", _CHANGE_SETTINGS, settings.delete_config, write=_DELETE_CONFIG),
    _read("/mode", "getGlobalMode", _READ_DEFAULTS, _without_subject(settings.get_mode)),
    _put("/mode", "putGlobalMode", _CHANGE_DEFAULTS, _without_subject(settings.put_mode), write=_UPDATE_MODE),
    _delete("/mode", "deleteGlobalMode", _CHANGE_DEFAULTS, _without_subject(settings.delete_mode), write=_DELETE_MODE),
    _read("/mode/{subject}", "getSubjectMode", _READ_SETTINGS, settings.get_mode),
    _put("/mode/{subject}", "putSubjectMode", _CHANGE_SETTINGS, settings.put_mode, write=_UPDATE_MODE),
    _delete("/mode/{subject}", "deleteSubjectMode", _CHANGE_SETTINGS, settings.delete_mode, write=_DELETE_MODE),
    _read("/contexts", "listContexts", _LIST, settings.list_contexts),
    _delete("/contexts/{context}", "deleteContext", _DELETE, settings.delete_context, write=_DELETE_CONTEXT),
    _ask("/rules/check", "checkRules", _LIST_READABLE, rules.check_rules),
    _ask("/outline", "makeOutline", _LIST_READABLE, outlines.make_outline),
    _read("/overview", "getOverview", _LIST, overview.get_overview),
    _read("/rights", "getRights", _LIST, rights.get_rights),
    _read("/search", "searchSchemas", _LIST_READABLE, search.search_schemas),
    Row(
        "GET",
        "/events",
        "followChanges",
        _LIST_READABLE,
        events.follow_changes,
        unnegotiated,
        has_deadline=False,
        streams=Streams.ANSWER,
    ),
    Row("GET", "/export", "exportAll", _LIST_READABLE, transfer.export, unnegotiated, has_deadline=False),
    RegistryRow(
        "POST",
        "/import",
        "importAll",
        _IMPORT,
        transfer.import_lines,
        negotiated_lines,
        body_limit=BodyLimit.BULK,
        has_deadline=False,
        write=_IMPORTING,
    ),
    _ask("/admin/step-down", "stepDown", _ALTER_REGISTRY, administration.step_down, has_deadline=False),
    _read("/security/acls", "listRules", _DESCRIBE_REGISTRY, access_rules.list_rules),
    _post("/security/acls", "addRules", _ALTER_REGISTRY, access_rules.add_rules, write=_ADD_RULES),
    _put("/security/acls", "replaceRules", _ALTER_REGISTRY, access_rules.replace_rules, write=_REPLACE_RULES),
    _delete("/security/acls", "removeRules", _ALTER_REGISTRY, access_rules.remove_rules, write=_REMOVE_RULES),
    RegistryRow(
        "POST",
        "/admin/repair",
        "repairLog",
        _ALTER_REGISTRY,
        repair.repair,
        negotiated,
        has_deadline=False,
        write=_REPAIR,
    ),
    Row("GET", "/", "root", SIGNED_IN, server.root, unnegotiated),
    _ask("/", "postRoot", SIGNED_IN, server.post_root),
    _read("/v1/metadata/id", "getClusterId", SIGNED_IN, server.cluster_id),
    _read("/v1/metadata/version", "getServerVersion", SIGNED_IN, server.version),
    _read("/v1/metadata/deployment", "getDeployment", _DESCRIBE_REGISTRY, server.deployment),
    _probe("/health/live", "live", handler=server.live),
    _probe("/health/ready", "ready", handler=server.ready),
    _probe("/health/startup", "startup", handler=server.startup),
    _probe("/_health", "health", handler=server.health),
    _probe("/master_available", "masterAvailable", handler=server.master_available),
    Row("GET", "/metrics", "metrics", _DESCRIBE_REGISTRY, server.metrics, unnegotiated),
    Row("GET", "/docs", "docs", SIGNED_IN, server.docs, unnegotiated, page_policy=server.DOCS_POLICY),
    _read("/openapi.json", "openapi", SIGNED_IN, server.openapi),
)
