"""A project's files, checked against the registry that they are for."""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from compat.schema import Reference, SchemaText
from magicbyte.check.baselines.registry import RegistryBaseline, registry_client
from magicbyte.check.checking import Checker
from magicbyte.check.config.config import Config, Lint, find_config
from magicbyte.check.findings import Report
from magicbyte.check.outputs.text import render
from magicbyte.check.project.files import SchemaFile, working_files
from magicbyte.check.project.tree import Tree
from magicbyte.check.run import open_stores
from magicbyte.cli.check.project_options import add_config, project_file, registry_settings
from magicbyte.cli.flags import add_schema_registry_url
from magicbyte.kit.failure import Failure
from serdes.client.clients import RegistryClient
from serdes.console.registry_settings import NO_REGISTRY, with_url
from serdes.error import SchemaNotFound, SubjectNotFound

#: The exit code for findings, as in `magicbyte check`.
FOUND = 100


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands in this package."""
    add_schema_registry_url(parser, "the registry (default: the configuration's `registry`)")
    add_config(parser)
    parser.add_argument("--dry-run", action="store_true", help="tell what would be done, and do nothing")


def configuration(options: argparse.Namespace) -> tuple[Config, dict[str, str]]:
    """The project's configuration, and the settings of the registry's client.

    Raises:
        Failure: the configuration is wrong, or no registry is given.
    """
    config, settings = find_config(Path.cwd(), project_file(options)), registry_settings(options)
    with_registry = with_url(settings, options.schema_registry_url, config.registry)
    if with_registry is None:
        raise Failure(NO_REGISTRY)
    return config, with_registry


@dataclass(eq=False)
class Project:
    """The files of a project in the order in which they can be registered, and the findings about them.

    Attributes:
        config: The project's configuration.
        client: The registry's client.
        tree: The project's files and their references.
        files: The selected files, each after those that it refers to.
        report: The report of the check against the registry.
    """

    config: Config
    client: RegistryClient
    tree: Tree
    files: Sequence[SchemaFile]
    report: Report

    def schema(self, file: SchemaFile, versions: dict[str, int]) -> SchemaText | None:
        """A file's schema with its references; None if the version of one of them is unknown.

        Args:
            file: The file.
            versions: The versions that the project's subjects have in the registry.
        """
        references = []
        for target in self.tree.targets(file):
            if target.stored is not None:
                references.append(Reference(target.name, target.stored.subject, target.stored.version))
            elif target.file is not None:
                if target.file.subject not in versions:
                    return None
                references.append(Reference(target.name, target.file.subject, versions[target.file.subject]))
        # Two mentions may have the same target, such as an Avro type by its full and by its short name.
        return SchemaText(file.schema_type, file.text, tuple(dict.fromkeys(references)))

    def registered(self, file: SchemaFile, versions: dict[str, int]) -> int | None:
        """The version that already has a file's schema; None if the schema is not registered."""
        schema = self.schema(file, versions)
        if schema is None:
            return None
        try:
            return self.client.lookup(file.subject, schema).version
        except (SubjectNotFound, SchemaNotFound):
            return None


@contextmanager
def open_project(options: argparse.Namespace, subjects: Collection[str] = ()) -> Iterator[Project]:
    """Read a project and check it against its registry.

    Args:
        options: Those of `add_options`.
        subjects: The subjects to select, with those that they refer to; all if empty.

    Raises:
        Failure: a required file does not exist, or the registry does not answer.
    """
    config, settings = configuration(options)
    config = replace(config, lint=Lint())
    files, findings = working_files(config)
    with registry_client(settings) as client:
        baseline = RegistryBaseline(client, [file.subject for file in files])
        tree = Tree(files, open_stores(config, baseline), config.import_roots)
        unknown = sorted(set(subjects) - set(tree.by_subject))
        if unknown:
            raise Failure(f"no file of the project stands for the subject {unknown[0]!r}")
        chosen, _ = tree.order([tree.by_subject[subject] for subject in subjects] if subjects else None)
        named = [file.path for file in chosen] if subjects else None
        checker = Checker(config, tree, baseline)
        report = checker.run(named, today=dt.datetime.now(tz=dt.UTC).date(), prior=findings)
        yield Project(config, client, tree, chosen, report)


def refuse_findings(project: Project) -> bool:
    """Print the findings, and tell whether one of them prevents any change."""
    if project.report.failed:
        print(render(project.report), end="")
        print("nothing was changed in the registry")
    return project.report.failed
