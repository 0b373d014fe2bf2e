"""Bulk import: the lines of an export, stored with their ids and versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from dataclasses import replace as replace_terms
from typing import Any

from msgspec.structs import replace

from compat.formats import FORMATS
from compat.schema import AVRO
from magicbyte.kit.errors import ApiError
from registry import errors
from registry.decide.configure import checked_config, decide_put_mode
from registry.decide.decision import Decision, require_valid_rules, require_writable
from registry.decide.mirror_lines import mark_records, removal_records, require_epochs
from registry.decide.question import LITTLE_READING, Question, Terms, Unanswered
from registry.decide.registration.candidate import candidate_of
from registry.decide.registration.stages import Completed, Sent
from registry.log.port import Record
from registry.offload.jobs import parse_steps
from registry.state import records
from registry.state.identity import guid_of
from registry.state.line_kinds import MANIFEST, PASSED_OVER
from registry.state.model import (
    DEFAULT_CONTEXT,
    GLOBAL_CONTEXT,
    MAX_VERSION,
    MODES,
    Config,
    Content,
    Version,
    context_of,
    in_bounds,
    in_context,
    kept_form,
    may_be_subject,
    parse_subject,
)
from registry.state.records import Key, Undecodable
from registry.state.resolve import qualified_context, settings_key
from registry.state.view import View

#: The most steps that a decision may use to read the schemas of all lines.
_MOST_READING = 10 * LITTLE_READING
_WITHOUT_RIGHT = (
    "this export was made without the right to see the settings of its contexts, and does not tell the highest id of "
    "each context: the ids of schemas that were deleted in the original may be given again here"
)
_HIDDEN = "this export is a part: some subjects, or their settings, were hidden from the user who made it"
#: A line's number, from 1, and its object.
Line = tuple[int, Mapping[str, Any]]


@dataclass(slots=True)
class Report:
    """The outcome of importing lines.

    Attributes:
        taken: How many lines were written, by kind.
        already_stored: How many lines were stored already.
        refused: The number of each refused line, and why it was refused.
        warnings: What the copy lacks.
    """

    taken: dict[str, int] = field(default_factory=dict)
    already_stored: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        """Add the outcome of other lines."""
        for kind, count in other.taken.items():
            self.taken[kind] = self.taken.get(kind, 0) + count
        self.already_stored += other.already_stored
        self.refused += other.refused
        self.warnings += other.warnings


def decide_load(
    view: View, now: int, *, lines: Sequence[Line], terms: Terms, context: str = DEFAULT_CONTEXT
) -> Decision[Report]:
    """Import lines in order, each after the ones before it; a refused line does not stop the others.

    If a line is of a mirror, all are written or none, because its mark says what the others have brought.

    Compatibility is not checked. A line with a guid is stored as it is and must match its guid; a text without a guid
    is parsed first. A subject that names no context is put into `context`.

    Raises:
        ApiError: 40990, a line's mirror was replaced; nothing is written.
        Unanswered: Texts must be parsed elsewhere first.
    """
    # First: nothing of a mirror that was replaced is written.
    require_epochs(view, (line for _, line in lines))
    overlay, report, new_records = view.overlay(), Report(), list[Record]()
    questions: list[Question] = []
    reading_left = _MOST_READING
    for number, line in lines:
        kind = line.get("kind", "schema")
        try:
            take = _KINDS.get(kind) if isinstance(kind, str) else None
            if take is None:
                raise errors.INVALID_PARAMETER(detail=f"unknown kind {kind!r}")
            reading_left -= _reading(line)
            line_terms = terms if reading_left >= 0 else replace_terms(terms, most_reading=0)
            written = take(overlay, now, _placed(line, context), line_terms)
        except (ApiError, Undecodable) as error:
            report.refused.append((number, str(error)))
            continue
        except Unanswered as missing:
            questions += missing.questions
            continue
        for record in written:
            overlay.apply_record(record)
        new_records += written
        if written:
            report.taken[kind] = report.taken.get(kind, 0) + 1
        elif take is not _pass_over:
            report.already_stored += 1
        elif kind == MANIFEST:
            report.warnings += _warnings(line)
    if questions:
        raise Unanswered(questions, overlay)
    return _decided(lines, report, new_records)


def _decided(lines: Sequence[Line], report: Report, new_records: Sequence[Record]) -> Decision[Report]:
    if report.refused and names_mirror(lines):
        return Decision(Report(refused=report.refused), ())
    return Decision(report, tuple(new_records))


def names_mirror(lines: Iterable[Line]) -> bool:
    """Tell whether a mirror sends these lines, so that they are written as a whole or not at all."""
    return any(line.get("kind") == "mirror" for _, line in lines)


def _warnings(manifest: Mapping[str, Any]) -> list[str]:
    """Return warnings about parts that the copy lacks, by the manifest of the export."""
    is_hiding = manifest.get("partial") or manifest.get("lacksSettings")
    return [*([_HIDDEN] if is_hiding else []), *([_WITHOUT_RIGHT] if manifest.get("lacksContexts") else [])]


def _placed(line: Mapping[str, Any], context: str) -> Mapping[str, Any]:
    """The line with its subject in a context; settings without a subject become those of the context."""
    if context == DEFAULT_CONTEXT:
        return line
    if line.get("kind") == "context":
        return {**line, "context": context} if line.get("context") == DEFAULT_CONTEXT else line
    subject = line.get("subject")
    if subject is None and line.get("kind") in ("config", "mode"):
        subject = ""
    return {**line, "subject": in_context(context, subject)} if isinstance(subject, str) else line


def _reading(line: Mapping[str, Any]) -> int:
    """About how many steps reading a line's schema takes; 0 if it has a guid, because it is then not parsed."""
    text, schema_type = line.get("schema"), line.get("schemaType")
    if line.get("guid") is not None or not isinstance(text, str):
        return 0
    return parse_steps(schema_type if isinstance(schema_type, str) else AVRO, len(text))


def _pass_over(_view: View, _now: int, _line: Mapping[str, Any], _terms: Terms) -> list[Record]:
    return []


def _schema(view: View, now: int, line: Mapping[str, Any], terms: Terms) -> list[Record]:
    subject, number = _subject(line), line.get("version")
    if not in_bounds(number):
        raise Undecodable(f"a schema needs a version from 1 to {MAX_VERSION}, not {number}")
    if not in_bounds(line.get("id")):
        raise Undecodable(f"a schema needs an id from 1 to {MAX_VERSION}, not {line.get('id')}")
    key = Key(records.SCHEMA, subject, number)
    version = records.decode_version(key, dict(line), _timestamp(line, now))
    version = replace(version, kept=kept_form(_content(view, version, line, terms)))
    context = context_of(subject)
    holder = view.content_with_id(context, version.schema_id)
    present = view.version(subject, number)
    if holder is not None and holder != version.content:
        raise errors.ID_OVERWRITE(id=version.schema_id, context=qualified_context(subject))
    if present is not None and (present.schema_id, present.content) != (version.schema_id, version.content):
        raise errors.ID_OVERWRITE(id=present.schema_id, context=qualified_context(subject))
    if present is not None and present.deleted == version.deleted:
        return []
    require_writable(view, subject)
    schema_record = records.version_record(view.key_bytes(key), version)
    if context == DEFAULT_CONTEXT or context in view.contexts():
        return [schema_record]
    return [Record(view.key_bytes(Key(records.CONTEXT, context)), records.encode_context(context), now), schema_record]


def _timestamp(line: Mapping[str, Any], now: int) -> int:
    """Return the registration time in ms: the export's, or now. The version's record will have that time, too."""
    given = line.get("ts")
    if given is None:
        return now
    if type(given) is not int or given < 0:
        raise Undecodable(f"a schema's ts is a time in ms since 1970, not {given!r}")
    # A clock that ran ahead must not make records that Kafka refuses.
    return min(given, now)


def _content(view: View, version: Version, line: Mapping[str, Any], terms: Terms) -> Content:
    content = version.content
    if content.schema_type not in FORMATS:
        raise errors.UNKNOWN_SCHEMA_TYPE(type=content.schema_type)
    if content.rule_set is not None:
        require_valid_rules(content.rule_set)
    if line.get("guid") is None:
        complete = Completed.as_sent(Sent(version.subject, content), Config())
        return candidate_of(view, complete, terms, strict=False).content
    if line["guid"] != guid_of(content):
        raise Undecodable(f"the schema is not what its guid {line['guid']} stands for")
    return content


def _context(view: View, now: int, line: Mapping[str, Any], _terms: Terms) -> list[Record]:
    """List a context, and raise its id mark, unless it is listed and has given as high an id.

    The global context has a mark only: contexts that have given no id begin above it.
    """
    context, highest, listed = line.get("context"), line.get("maxId"), line.get("listed")
    settings = f":{context}:"
    if (
        not isinstance(context, str)
        or context_of(settings) != context
        or not may_be_subject(settings, of_settings=context == GLOBAL_CONTEXT and listed is not True)
    ):
        raise Undecodable(f"{context!r} is not a context")
    if highest != 0 and not in_bounds(highest):
        raise Undecodable(f"a context needs a maxId from 0 to {MAX_VERSION}, not {highest}")
    new_records = list[Record]()
    if listed is True and context != DEFAULT_CONTEXT and context not in view.contexts():
        new_records.append(Record(view.key_bytes(Key(records.CONTEXT, context)), records.encode_context(context), now))
    if highest > view.highest_id(context):
        mark = view.key_bytes(Key(records.ID_MARK, context))
        new_records.append(Record(mark, records.encode_id_mark(context, highest), now))
    if new_records:
        require_writable(view, settings_key(settings))
    return new_records


def _config(view: View, now: int, line: Mapping[str, Any], _terms: Terms) -> list[Record]:
    subject, value = _optional_subject(line), line.get("config")
    if not isinstance(value, dict):
        raise Undecodable("a config needs an object `config`")
    config = checked_config(value)
    if config == view.config(subject):
        return []
    require_writable(view, subject)
    key = Key(records.CONFIG, subject)
    return [Record(view.key_bytes(key), records.encode_config(key, config), now)]


def _mode(view: View, now: int, line: Mapping[str, Any], terms: Terms) -> list[Record]:
    subject, mode = _optional_subject(line), line.get("mode")
    if not isinstance(mode, str) or mode not in MODES:
        raise errors.INVALID_MODE()
    if mode == view.mode(subject):
        return []
    return list(decide_put_mode(view, now, subject=subject, name=mode, terms=terms, force=True).records)


def _removal(view: View, now: int, line: Mapping[str, Any], _terms: Terms) -> list[Record]:
    return removal_records(view, now, line)


def _mirror(view: View, now: int, line: Mapping[str, Any], _terms: Terms) -> list[Record]:
    return mark_records(view, now, line)


def _subject(line: Mapping[str, Any], *, of_settings: bool = False) -> str:
    text = line.get("subject")
    if not isinstance(text, str):
        raise Undecodable("a schema needs a subject")
    subject = str(parse_subject(text))
    if not may_be_subject(subject, of_settings=of_settings):
        raise errors.INVALID_SUBJECT(subject=text)
    return subject


def _optional_subject(line: Mapping[str, Any]) -> str | None:
    return None if line.get("subject") is None else settings_key(_subject(line, of_settings=True))


_KINDS: Mapping[str, Callable[[View, int, Mapping[str, Any], Terms], list[Record]]] = {
    "context": _context,
    "schema": _schema,
    "config": _config,
    "mode": _mode,
    "removal": _removal,
    "mirror": _mirror,
    **dict.fromkeys(PASSED_OVER, _pass_over),
}
