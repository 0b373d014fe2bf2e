"""The stages of a schema before it is a version: sent, completed, candidate."""

from __future__ import annotations

from typing import Self

from msgspec import Struct
from msgspec.structs import replace

from compat.contracts.model import VERSION_PROPERTY
from registry.decide.question import Source
from registry.state.model import Config, Content
from registry.tags import Tags


class Sent(Struct, frozen=True):
    """A schema as a client sent it, to register it or to look it up.

    Attributes:
        subject: The subject in wire form.
        content: The content: references not pinned, text not canonical.
        version: The required version number; 0 leaves it to the server.
        schema_id: The required id; -1 leaves it to the server.
        normalize: Store the normalised text even if the config does not ask for it.
        force: Skip the compatibility check.
        expected_latest: Register only if this is the latest live version, 0 for none; None skips the check.
        tags_to_add: Tags to write into the text.
        tags_to_remove: Tags to remove from the text.
        propagate_tags: Write the latest version's tags into the text, for entities that both have.
        explain: Explain in the error why the schema is incompatible, or tell the position of a fault in its text.
    """

    subject: str
    content: Content
    version: int = 0
    schema_id: int = -1
    normalize: bool = False
    force: bool = False
    expected_latest: int | None = None
    tags_to_add: Tags = {}
    tags_to_remove: Tags = {}
    propagate_tags: bool = False
    explain: bool = False

    @property
    def edits_tags(self) -> bool:
        """Tell whether the request changes tags in the text."""
        return bool(self.tags_to_add or self.tags_to_remove or self.propagate_tags)


class Completed(Struct, frozen=True):
    """A sent schema with everything that it inherits, and the config that says how to read it.

    Attributes:
        sent: The schema as it was sent, with its changes of tags applied.
        content: The content with inherited metadata and rules: references not pinned, text not canonical.
        config: The config in effect for the subject.
        normalize: Whether the normalised text is stored.
    """

    sent: Sent
    content: Content
    config: Config
    normalize: bool

    @staticmethod
    def as_sent(sent: Sent, config: Config) -> Completed:
        """A schema that inherits nothing."""
        return Completed(sent, sent.content, config, normalize=bool(sent.normalize or config.normalize))


class Unparsed(Struct, frozen=True):
    """A content as it was sent, in which form it may be stored already.

    Attributes:
        subject: The subject in wire form.
        content: The content.
    """

    subject: str
    content: Content

    def without_number(self) -> Self:
        """The same without the version property, which a registration inherits."""
        metadata = self.content.metadata
        if metadata is None or VERSION_PROPERTY not in metadata.properties:
            return self
        content = replace(self.content, metadata=metadata.without_property(VERSION_PROPERTY))
        return replace(self, content=content)


class Candidate(Unparsed, frozen=True):
    """A content in the form to be stored, and the text that it was made from.

    Attributes:
        source: The text as the client sent it, with pinned references.
        normalized: Whether the content's text is normalised.
        fault: Why `validateFields` refuses it; empty if it does not, or is off.
        older_text: The other text in which an earlier release or the reference may have stored the schema; empty if
            there is none.
    """

    source: Source
    normalized: bool
    fault: str = ""
    older_text: str = ""


class Eligible(Struct, frozen=True):
    """The versions of a subject that a candidate may turn out to be.

    Attributes:
        number: The number of the only such version, or `LATEST`; 0 for any number.
        schema_id: The only id; -1 for any id.
        include_deleted: Whether they include soft-deleted versions.
    """

    number: int = 0
    schema_id: int = -1
    include_deleted: bool = False
