"""Models of verdicts, explanations and errors."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from registry.http.models.listings import Holder
from registry.http.models.rules import RuleFinding


class Edit(TypedDict):
    """One replacement in a text."""

    offset: int
    length: int
    text: str


class Fix(TypedDict):
    """Edits that mend a finding."""

    title: str
    edits: list[Edit]


class Explanation(TypedDict):
    """A finding, explained for people."""

    rule: str
    severity: Annotated[
        Literal["error", "warning"], Field(description="A warning does not make the schema incompatible.")
    ]
    path: str
    direction: Literal["BACKWARD", "FORWARD"]
    version: NotRequired[int | None]
    change: str
    new: NotRequired[Annotated[dict[str, Any] | None, Field(description="Line and column in the new schema.")]]
    old: NotRequired[Annotated[dict[str, Any] | None, Field(description="Line and column in the earlier version.")]]
    breaks: str
    harm: str
    remedy: str
    fixes: Annotated[
        list[Fix],
        Field(
            description="Edits of the schema as sent, each of which mends this; offsets and lengths count characters."
        ),
    ]
    example: NotRequired[Annotated[str | None, Field(description="A datum that shows it, as JSON text.")]]
    exampleBytes: NotRequired[Annotated[str | None, Field(description="The same in the binary encoding, as base64.")]]
    effect: NotRequired[
        Annotated[str | None, Field(description="What the reader makes of it, or why no data can break.")]
    ]
    message: str


class ComparedVersion(TypedDict):
    """A version that `every` compared."""

    version: int
    backward: Annotated[bool, Field(description="Whether the schema reads the version's data.")]
    forward: Annotated[bool, Field(description="Whether the version reads the schema's data.")]


class Verdict(TypedDict):
    """Whether a schema is compatible."""

    is_compatible: bool
    messages: NotRequired[list[str]]
    versions: NotRequired[
        Annotated[
            list[ComparedVersion], Field(description="With `every`: the versions that were compared, newest first.")
        ]
    ]
    cut: NotRequired[
        Annotated[
            bool,
            Field(
                description="With `every`: whether older versions or explanations are left out because they "
                "take more work than a request may."
            ),
        ]
    ]
    explanations: NotRequired[list[Explanation]]


class TextPosition(TypedDict):
    """A place in a text, counted from 1."""

    line: Annotated[int, Field(ge=1)]
    column: Annotated[int, Field(ge=1)]


class Error(TypedDict):
    """An error of the API."""

    error_code: Annotated[
        Literal[
            400,
            401,
            403,
            404,
            405,
            406,
            408,
            409,
            413,
            414,
            415,
            421,
            422,
            429,
            431,
            500,
            501,
            503,
            504,
            505,
            40301,
            40401,
            40402,
            40403,
            40404,
            40405,
            40406,
            40407,
            40408,
            40409,
            40901,
            40911,
            40912,
            40913,
            40914,
            40990,
            41201,
            42201,
            42202,
            42203,
            42204,
            42205,
            42206,
            42207,
            42208,
            42209,
            42210,
            42211,
            42212,
            42230,
            42231,
            50001,
            50002,
            50003,
            50004,
        ],
        Field(
            description="The HTTP status, or a number that begins with it and says more. 40911 to 40914, 40990, 41201, "
            "42230, 42231 and 503 are extensions. 42209 also stands for a schema that takes more work to read or "
            "to compare with earlier versions than a request may."
        ),
    ]
    message: str
    importedLines: NotRequired[
        Annotated[int, Field(description="Extension: the line up to which an import was written before it failed.")]
    ]
    explanations: NotRequired[
        Annotated[list[Explanation], Field(description="Extension: what broke, if `explain` asks for it.")]
    ]
    referencedBy: NotRequired[
        Annotated[
            list[Holder],
            Field(
                description="Extension: of 42206, up to 20 versions that refer to the one that was to be deleted; "
                "those of subjects that the sender may not read are left out."
            ),
        ]
    ]
    findings: NotRequired[
        Annotated[list[RuleFinding], Field(description="Extension: of 42210, all findings about the rules.")]
    ]
    position: NotRequired[
        Annotated[
            TextPosition,
            Field(
                description="Extension: with `explain`, the place in the text as sent that makes a schema "
                "invalid (42201), if the parser knows it."
            ),
        ]
    ]
