"""Runs a check: reads the configuration, the files and the baseline, and returns the report."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from compat.level import LEVELS
from magicbyte.check.baselines.baseline import Baseline, Nothing
from magicbyte.check.checking import Checker
from magicbyte.check.config.config import LINT_RULES, Config, find_config
from magicbyte.check.findings import Report
from magicbyte.check.project.files import SchemaFile, working_files
from magicbyte.check.project.tree import Store, Tree
from magicbyte.kit.bounded_file import real_path
from magicbyte.kit.failure import Failure

if TYPE_CHECKING:
    from magicbyte.check.baselines.lock import StateBaseline


@dataclass(frozen=True, slots=True)
class Services:
    """The addresses and settings of the registry and the brokers.

    Attributes:
        registry: The registry's URL; it overrides that of the settings.
        bootstrap_servers: The brokers' addresses.
        kafka_properties: Returns the properties of the Kafka client by Java's names.
        settings: Returns the settings of the registry's client.
        usual_registry: The registry's URL if no other is given: that of the configuration, or of another baseline.
    """

    registry: str | None = None
    bootstrap_servers: str = "localhost:9092"
    kafka_properties: Callable[[], Mapping[str, str]] = dict
    settings: Callable[[], Mapping[str, str]] = dict
    usual_registry: str | None = None


_NOWHERE = Services()


def check_project(
    folder: Path,
    *,
    config_file: Path | None = None,
    against: Sequence[str] = (),
    named: Sequence[str] = (),
    level: str | None = None,
    lint: bool = False,
    strict: bool = False,
    services: Services = _NOWHERE,
) -> Report:
    """Check the project that contains a folder.

    Args:
        folder: The working folder.
        config_file: The configuration file; by default it is searched for.
        against: The baselines to compare with in turn, instead of the configured one.
        named: The files and folders whose findings are requested, relative to the folder; by default all.
        level: The level for subjects without a level of their own.
        lint: Whether to enable all lint rules.
        strict: Whether breaks that the rules allow are errors.
        services: The registry and the brokers, for baselines that need them.

    Raises:
        Failure: one of these does not exist or is wrong.
    """
    config = find_config(folder, config_file)
    if level is not None:
        if level.upper() not in LEVELS:
            raise Failure(f"--compatibility {level}: there are {', '.join(LEVELS)}")
        config = replace(config, level=LEVELS[level.upper()])
    if lint:
        config = replace(config, lint=replace(config.lint, rules=LINT_RULES))
    if strict:
        config = replace(config, strict=True)
    paths = [inside(config, folder, name) for name in named]
    files, findings = working_files(config, [path for path in paths if (config.root / path).is_file()])
    paths_checked = {*(file.path for file in files), *(finding.file for finding in findings)}
    selected = {path for path in paths_checked if any(is_in(path, name) for name in paths)} if named else None
    report: Report | None = None
    baselines: Sequence[str | None] = against or [config.against]
    kinds = [_kind(baseline_text, folder) for baseline_text in baselines]
    registries = (config.registry, *(rest for kind, rest in kinds if kind == "registry"))
    services = replace(services, usual_registry=next((url for url in registries if url), None))
    for baseline_text in dict.fromkeys(baselines):
        with open_baseline(baseline_text, config, folder, files, services) as baseline:
            tree = Tree(files, open_stores(config, baseline), config.import_roots)
            checked = Checker(config, tree, baseline).run(selected, today=_today(), prior=findings)
        report = checked if report is None else report.plus(checked)
    assert report is not None
    return replace(report, prefix=_prefix(config.root))


@contextmanager
def open_baseline(
    against: str | None, config: Config, folder: Path, files: Sequence[SchemaFile], services: Services
) -> Iterator[Baseline]:
    """Open a baseline.

    Args:
        against: The value of `--against`; None for the main branch.
        config: The project.
        folder: The folder to which paths are relative.
        files: The project's files, whose subjects are looked up.
        services: The registry and the brokers.

    Raises:
        Failure: the value is not valid, or the baseline does not exist.
    """
    kind, rest = _kind(against, folder)
    if kind == "topic":
        # Import here, for the reason given below.
        from magicbyte.check.baselines.registry import registry_client  # noqa: PLC0415
        from magicbyte.check.baselines.topic import Kafka, TopicBaseline  # noqa: PLC0415
        from serdes.console.client import DEFAULT_URL  # noqa: PLC0415
        from serdes.console.registry_settings import with_url  # noqa: PLC0415

        topics = [topic for name in rest.split(",") if (topic := name.strip())]
        if not topics:
            raise Failure("--against topic: names no topic")
        # As `magicbyte consume`: nobody has to name the usual addresses.
        usual = services.usual_registry or DEFAULT_URL
        of_client = with_url(services.settings(), services.registry, usual) or {}
        kafka = Kafka(services.bootstrap_servers, services.kafka_properties())
        with registry_client(of_client) as client:
            yield TopicBaseline([*dict.fromkeys(topics)], kafka, client, files)
    elif kind == "registry":
        # This import loads the HTTP client, which only registry baselines need.
        from magicbyte.check.baselines.registry import RegistryBaseline, registry_client  # noqa: PLC0415
        from serdes.console.registry_settings import NO_REGISTRY, with_url  # noqa: PLC0415

        settings = with_url(services.settings(), rest or services.registry, services.usual_registry)
        if settings is None:
            raise Failure(NO_REGISTRY)
        with registry_client(settings) as client:
            yield RegistryBaseline(client, [file.subject for file in files])
    else:
        yield _OPENERS[kind](rest, config, folder)


def open_stores(config: Config, baseline: Baseline) -> list[Store]:
    """The stores for references that no file resolves: the lock file, and the baseline if it stores versions."""
    stores: list[Store] = []
    if config.lock is not None:
        path = config.root / config.lock
        if not path.is_file():
            raise config.error("lock", f"there is no lock file {config.lock!r}")
        stores.append(_read_lock(path, config.lock))
    baseline_store = baseline.store()
    if baseline_store is not None:
        stores.append(baseline_store)
    return stores


def _kind(against: str | None, folder: Path) -> tuple[str, str]:
    if against is None:
        return "usual", ""
    if against == "none":
        return "none", ""
    kind, colon, rest = against.partition(":")
    if colon and kind in {*_OPENERS, "registry", "topic"}:
        return kind, rest
    if "://" in against:
        return "registry", against
    path = folder / against
    if path.is_dir():
        return "folder", against
    if path.is_file():
        return ("lock" if against.endswith(".lock.json") else "file"), against
    raise Failure(
        f"--against:1:1: there is no file or folder {against!r}; a git ref is git:{against}, and there are folder:,"
        " file:, lock:, registry:, topic: and none"
    )


def _usual(_: str, config: Config, folder: Path) -> Baseline:
    from magicbyte.check.baselines.git import USUAL, usual_ref  # noqa: PLC0415 - starts processes

    ref = usual_ref(config)
    if ref is None:
        # A check that compares nothing passes, so a pipeline with an incomplete clone would let every break through.
        raise Failure(
            f"there is nothing to compare with: {config.root} has none of the git refs {', '.join(USUAL)}; fetch the"
            " main branch with its history (`fetch-depth: 0` of actions/checkout), name another baseline with"
            " --against, or only read the schemas with --against none"
        )
    return _git(ref, config, folder)


def _git(ref: str, config: Config, _: Path) -> Baseline:
    from magicbyte.check.baselines.git import GitBaseline  # noqa: PLC0415 - starts processes

    return GitBaseline(ref, config)


def _folder(name: str, config: Config, folder: Path) -> Baseline:
    from magicbyte.check.baselines.folder import FolderBaseline  # noqa: PLC0415 - beside its siblings

    if not (folder / name).is_dir():
        raise Failure(f"--against:1:8: there is no folder {name!r}")
    return FolderBaseline(folder / name, config, name)


def _file(name: str, config: Config, folder: Path) -> Baseline:
    from magicbyte.check.baselines.folder import FileBaseline  # noqa: PLC0415 - beside its siblings

    return FileBaseline(folder / name, config, name)


def _lock(name: str, _: Config, folder: Path) -> Baseline:
    return _read_lock(folder / name, name)


def _read_lock(path: Path, name: str) -> StateBaseline:
    from magicbyte.check.baselines.lock import StateBaseline, read_lock  # noqa: PLC0415 - few have one

    return StateBaseline(name, read_lock(path, name))


def _none(_: str, __: Config, ___: Path) -> Baseline:
    return Nothing()


_OPENERS = {"usual": _usual, "git": _git, "folder": _folder, "file": _file, "lock": _lock, "none": _none}


def inside(config: Config, folder: Path, name: str) -> str:
    """The path, from the project's folder, of a file or folder that is named in a folder.

    Raises:
        Failure: It does not exist, or is outside of the project's folder.
    """
    path = real_path(folder / name)
    if not path.exists():
        raise Failure(f"{name}:1:1: there is no such file or folder")
    try:
        return path.relative_to(config.root.resolve()).as_posix()
    except ValueError:
        raise Failure(f"{name}:1:1: is not in the project's folder {config.root}") from None


def is_in(path: str, name: str) -> bool:
    """Whether a path of the project is a named file, or a file in a named folder."""
    return name in {".", path} or path.startswith(f"{name}/")


def _prefix(root: Path) -> str:
    for around in (root, *root.parents):
        if (around / ".git").exists():
            inside = root.relative_to(around).as_posix()
            return "" if inside == "." else f"{inside}/"
    return ""


def _today() -> dt.date:
    return dt.datetime.now(tz=dt.UTC).date()
