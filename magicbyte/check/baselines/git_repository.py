"""The git operations that the baseline needs, run through the `git` command."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from magicbyte.kit.failure import Failure

_HEADER = re.compile(rb"[0-9a-f]{40,64} (?P<kind>\w+) (?P<size>\d+)|.* (?:missing|ambiguous)")


@dataclass(frozen=True, slots=True)
class Change:
    """A file's change in a commit: its paths before and after, and its content after; None if it was deleted."""

    commit: str
    before: str
    after: str
    blob: str | None


class Repository:
    """The repository that contains a folder; paths are relative to that folder.

    Args:
        folder: The folder.
        endings: The file name endings of schema files.

    Raises:
        Failure: git is not installed, or the folder is not in a repository.
    """

    def __init__(self, folder: Path, endings: tuple[str, ...]) -> None:
        self._folder = folder
        self._endings = endings
        shown = self._try("rev-parse", "--show-prefix")
        if shown is None:
            raise Failure(f"{folder} is in no git repository; name another baseline with --against")
        self.prefix = shown.decode().rstrip("\n")
        self._blobs: dict[str, bytes] = {}

    def commit(self, ref: str) -> str | None:
        """The commit of a ref; None if there is no such ref."""
        output = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        return None if output is None else output.decode().strip()

    def merge_base(self, commit: str) -> str | None:
        """The newest common commit of HEAD and a commit; None if there is none."""
        if self.commit("HEAD") is None:
            return None
        output = self._try("merge-base", "HEAD", commit)
        return None if output is None else output.decode().split()[0]

    def is_unchanged_since(self, commit: str) -> bool:
        """Whether HEAD is at a commit and no tracked file differs from it."""
        return self.commit("HEAD") == commit and self._try("diff", "--quiet", commit) is not None

    @cached_property
    def is_shallow(self) -> bool:
        """Whether a part of the history was not fetched."""
        return (self._try("rev-parse", "--is-shallow-repository") or b"").strip() == b"true"

    def files(self, commit: str) -> Mapping[str, str]:
        """The blobs of a commit's schema and configuration files, by path."""
        listed = self._run("ls-tree", "-r", "-z", "--full-tree", commit, *([self.prefix] if self.prefix else []))
        blobs = {}
        for line in listed.split(b"\0"):
            about, _, path = line.partition(b"\t")
            name = path.decode("utf-8", "surrogateescape")
            if name.endswith((*self._endings, ".toml")) and about.split()[1] == b"blob":
                blobs[name.removeprefix(self.prefix)] = about.split()[2].decode()
        return blobs

    def read(self, blobs: Iterable[str]) -> Mapping[str, bytes]:
        """The contents of blobs, read by a single process."""
        unread = [blob for blob in dict.fromkeys(blobs) if blob not in self._blobs]
        if unread:
            answer = self._run("cat-file", "--batch", stdin="".join(f"{blob}\n" for blob in unread).encode())
            offset = 0
            for blob in unread:
                end = answer.index(b"\n", offset)
                header = _HEADER.fullmatch(answer, offset, end)
                size = int(header["size"]) if header and header["size"] else None
                if size is None:
                    raise Failure(f"git does not have the object {blob}: fetch all of the history")
                self._blobs[blob] = answer[end + 1 : end + 1 + size]
                offset = end + 1 + size + 1
        return self._blobs

    def changes(self, commit: str) -> Iterator[Change]:
        """Every change of a schema file in the history of a commit, newest first, with renames."""
        options = ["--first-parent", "--diff-merges=first-parent", "--raw", "-M", "-z", "--no-abbrev", "--relative"]
        answer = self._run(
            "log", *options, "--format=%x01%H", commit, "--", *(f"*{ending}" for ending in self._endings)
        ).decode("utf-8", "surrogateescape")
        for part in answer.split("\1")[1:]:
            hash_, *words = [word.lstrip("\n") for word in part.split("\0")]
            yield from _parse_changes(hash_.strip(), iter(words))

    def _run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = self._git(arguments, stdin)
        if done.returncode:
            raise Failure(f"git {arguments[0]} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout

    def _try(self, *arguments: str) -> bytes | None:
        done = self._git(arguments)
        return None if done.returncode else done.stdout

    def _git(self, arguments: Sequence[str], stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        environment = os.environ | {"GIT_NO_LAZY_FETCH": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
        command = ["git", "-c", "core.quotePath=false", *arguments]
        try:
            return subprocess.run(  # noqa: S603 - the arguments are ours
                command, cwd=self._folder, input=stdin, capture_output=True, check=False, env=environment
            )
        except OSError as error:
            raise Failure(f"git cannot be run: {error.strerror}") from None


def _parse_changes(commit: str, words: Iterator[str]) -> Iterator[Change]:
    """The changes of one commit in the raw format: `:modes blobs status`, then one path, or two for a rename."""
    for word in words:
        if not word.startswith(":"):
            continue
        _, _, _, blob, status = word.split(" ")
        before = next(words)
        after = next(words) if status[0] in "RC" else before
        yield Change(commit, before, after, None if status[0] == "D" else blob)
