"""The schemas that classes are generated from: files of a project, or versions of a registry's subjects."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from compat.formats import parse
from compat.schema import PROTOBUF, Dependencies, InvalidSchema, SchemaText
from magicbyte.check.baselines.baseline import Nothing
from magicbyte.check.config.config import Config, find_config
from magicbyte.check.config.patterns import matches
from magicbyte.check.findings import Finding
from magicbyte.check.project.files import SchemaFile, working_files
from magicbyte.check.project.tree import Tree
from magicbyte.check.run import inside, is_in, open_stores
from magicbyte.cli.check.project_options import project_file, registry_settings
from magicbyte.generate.model import Source
from magicbyte.kit.bounded_file import real_path
from magicbyte.kit.failure import Failure

_ENDINGS = (".schema.json", ".avsc", ".avro", ".proto", ".json")


def sources_of_files(options: argparse.Namespace) -> list[Source]:
    """The schemas of the files that the options name, or of all files of the project, each after those it refers to.

    Raises:
        Failure: A file does not exist, cannot be read, or refers to nothing that is there.
    """
    folder = Path.cwd()
    config = find_config(folder, project_file(options))
    named = [_named(config, folder, name) for name in options.files]
    files, findings = working_files(config, [path for path in named if (config.root / path).is_file()])
    selected = [file for file in files if not named or any(_is_in(file.path, name) for name in named)]
    _refuse([finding for finding in findings if not named or any(_is_in(finding.file, name) for name in named)])
    if not selected:
        where = options.files[0] if named else config.root
        raise Failure(f"there are no schema files in {where}")
    tree = Tree(files, open_stores(config, Nothing()), config.import_roots)
    ordered, circles = tree.order(selected)
    _refuse(circles)
    _refuse([problem for file in ordered if (problem := tree.problems(file)) is not None])
    chosen = {file.path for file in selected}
    return [_of_file(file, tree, config, is_chosen=file.path in chosen) for file in ordered]


def sources_of_registry(options: argparse.Namespace) -> list[Source]:
    """The versions of a registry's subjects that the options name.

    Raises:
        Failure: The registry does not answer, or has no such version.
    """
    from magicbyte.check.baselines.registry import registry_client  # noqa: PLC0415 - the HTTP client
    from serdes.console.registry_settings import NO_REGISTRY, with_url  # noqa: PLC0415

    config = find_config(Path.cwd(), project_file(options))
    settings = with_url(registry_settings(options), options.schema_registry_url, config.registry)
    if settings is None:
        raise Failure(NO_REGISTRY)
    sources = []
    with registry_client(settings) as client:
        for name in options.subject:
            subject, version = _version(name)
            held = client.version(subject, version)
            needed = client.drive(client.endpoints.dependencies(held.schema, subject))
            origin = f"subject {subject}, version {held.version}, schema {_hash(held.schema, needed)}"
            references = tuple((part.name, part.subject, part.version) for part in held.schema.references)
            path = subject if subject.endswith(".proto") else f"{subject}.proto"
            stem = _stem(PurePosixPath(subject).name)
            sources.append(Source(held.schema.schema_type, held.schema.text, needed, origin, stem, path, references))
    return sources


def _version(name: str) -> tuple[str, int]:
    subject, at, version = name.rpartition("@")
    if at and subject and version.isascii() and version.isdigit() and int(version) > 0:
        return subject, int(version)
    return (subject, -1) if at and subject and version == "latest" else (name, -1)


def _of_file(file: SchemaFile, tree: Tree, config: Config, *, is_chosen: bool) -> Source:
    needed = tree.dependencies(file)
    schema = SchemaText(file.schema_type, file.text)
    references = tuple(dict.fromkeys(_references(file, tree)))
    return Source(
        file.schema_type,
        file.text,
        needed,
        f"file {file.path}, schema {_hash(schema, needed)}",
        _stem(PurePosixPath(file.path).name),
        _import_path(file, config) if file.schema_type == PROTOBUF else file.path,
        references,
        is_chosen,
    )


def _references(file: SchemaFile, tree: Tree) -> Iterator[tuple[str, str, int]]:
    for target in tree.targets(file):
        if target.stored is not None:
            yield target.name, target.stored.subject, target.stored.version
        elif target.file is not None:
            # A file has no version; the registry takes -1 for the latest.
            yield target.name, target.file.subject, -1


def _import_path(file: SchemaFile, config: Config) -> str:
    """The path by which other Protobuf files import this one."""
    roots = sorted((root.strip("/") for root in config.import_roots), key=len, reverse=True)
    return next(
        (file.path.removeprefix(f"{root}/") for root in roots if root and file.path.startswith(f"{root}/")), file.path
    )


def _stem(name: str) -> str:
    return next((name.removesuffix(end) for end in _ENDINGS if name.endswith(end)), name)


def _hash(schema: SchemaText, needed: Dependencies) -> str:
    """The hash of what a schema says: spaces and line ends do not count."""
    try:
        text = parse(schema, needed).canonical
    except InvalidSchema:
        text = schema.text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for dependency in needed:
        digest.update(b"\0" + dependency.text.encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"


def _named(config: Config, folder: Path, name: str) -> str:
    """The path from the project's folder, or the pattern for such paths, of what is named in a folder."""
    if any(sign in name for sign in "*?") and not (folder / name).exists():
        within = real_path(folder).relative_to(config.root.resolve()).as_posix()
        return name if within == "." else f"{within}/{name}"
    return inside(config, folder, name)


def _is_in(path: str, name: str) -> bool:
    return is_in(path, name) or matches(name, path)


def _refuse(findings: Sequence[Finding]) -> None:
    for finding in findings:
        at = finding.position
        raise Failure(f"{finding.file}:{at.line}:{at.column}: {finding.message} {finding.remedy}")
