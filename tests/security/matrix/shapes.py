"""The ways in which a path can be written, and what each of them is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote

PARAMETERS = {
    "version": "77",
    "id": "987654",
    "guid": "0" * 32,
    "context": ".gone",
    "instance": "i",
    "partition": "0",
    "cluster": "c",
    "broker": "1",
    "config": "x",
    "consumer": "x",
}
NAMES = ("subject", "topic", "group")


@dataclass(frozen=True, eq=False)
class Shape:
    """One way to write a path.

    Attributes:
        name: For the report of a failure.
        path: Makes the path as it is sent from the template.
        asked: The name that refusals show.
        is_inside: Whether rules about names inside are about the resource.
        status: What everybody who has signed in is answered, if it is no route.
        method: Sent instead of the row's.
        context: The context around the path.
    """

    name: str
    path: Callable[[str], str]
    asked: str = "open.gone"
    is_inside: bool = True
    status: int | None = None
    method: str | None = None
    context: str = ""


def filled(template: str, name: str = "open.gone") -> str:
    """A template with a name in the place of each name, and something that is not there for the rest."""
    values: Mapping[str, str] = {**PARAMETERS, **dict.fromkeys(NAMES, name)}
    for parameter, value in values.items():
        template = template.replace(f"{{{parameter}}}", value)
    return template


def named(name: str) -> Callable[[str], str]:
    return lambda template: filled(template, name)


def every_character(text: str) -> str:
    return "".join(f"%{character:02X}" for character in text.encode())


COMMON = (
    Shape("plain", filled),
    Shape("trailing slash", lambda template: filled(template).rstrip("/") + "/"),
    Shape("query", lambda template: filled(template) + "?user=admin&access_token=x"),
    Shape("one character encoded", named("open%2Egone")),
    Shape("lower-case escape", named("open%2egone")),
    Shape("every character encoded", named(every_character("open.gone"))),
    Shape("slash within a name", named("open.a%2Fb"), asked="open.a/b"),
    Shape("dot segments within a name", named("open.%2E%2E%2Fother"), asked="open.../other"),
    Shape("matrix parameter", named("open.gone;a=b"), asked="open.gone;a=b"),
    Shape("plus", named("open.a+b"), asked="open.a+b"),
    Shape("encoded percent", named("open.a%252Fb"), asked="open.a%2Fb"),
    Shape("encoded question mark", named("open.a%3Fb"), asked="open.a?b"),
    Shape("space", named("open.a%20b"), asked="open.a b"),
    Shape("other case", named("Open.gone"), asked="Open.gone", is_inside=False),
    Shape("other script", named(quote("оpen.gone")), asked="оpen.gone", is_inside=False),  # noqa: RUF001  as it says
    Shape("prefix alone", named("open"), asked="open", is_inside=False),
    Shape("outside", named("other.gone"), asked="other.gone", is_inside=False),
    Shape("upper-case path", lambda template: filled(template).upper(), status=404),
    Shape("two slashes first", lambda template: "/" + filled(template), status=404),
    Shape("dot segment first", lambda template: "/." + filled(template), status=404),
    Shape("dot-dot segment", lambda template: "/x/.." + filled(template), status=404),
    Shape("encoded dot-dot segment", lambda template: "/x/%2e%2e" + filled(template), status=404),
    Shape("encoded slash", lambda template: "/" + quote(filled(template), safe=""), status=404),
    Shape("more behind it", lambda template: filled(template).rstrip("/") + "/more/of/it", status=404),
    Shape("no such method", filled, status=405, method="TRACE"),
    Shape("method in lower case", filled, status=405, method="get"),
)
#: For a GET only.
HEAD = Shape("HEAD", filled, method="HEAD")
IN_REST_PROXY = (
    Shape("two slashes last", lambda template: filled(template).rstrip("/") + "//", status=404),
    Shape("star", named("%2A"), asked="*", is_inside=False),
    Shape("in a context", lambda template: "/contexts/.c" + filled(template), status=404),
)
IN_REST_V3 = (
    *IN_REST_PROXY,
    Shape("prefix of Confluent Server", lambda template: "/kafka" + filled(template)),
    Shape("other prefix", lambda template: "/kafkas" + filled(template), status=404),
)
IN_REGISTRY = (
    Shape("two slashes last", lambda template: filled(template).rstrip("/") + "//"),
    Shape("in the default context", lambda template: "/contexts/." + filled(template)),
    Shape("in the default context, qualified", lambda template: "/contexts/:.:" + filled(template)),
    Shape("qualified", named(":.:open.gone")),
    Shape("qualified, encoded", named("%3A.%3Aopen.gone")),
    Shape("in a context", lambda template: "/contexts/.c" + filled(template), ":.c:open.gone", False, context=".c"),
    Shape(
        "in a context without its dot",
        lambda template: "/contexts/c" + filled(template),
        ":.c:open.gone",
        False,
        context=".c",
    ),
    Shape("qualified by a context", named(":.c:open.gone"), ":.c:open.gone", is_inside=False),
    Shape(
        "qualified within a context",
        lambda template: "/contexts/.c" + filled(template, ":.d:open.gone"),
        ":.d:open.gone",
        False,
        context=".c",
    ),
    Shape("an alias of what is outside", named("open.alias"), asked="open.alias", is_inside=False),
    Shape("an alias of what is inside", named("other.alias"), asked="other.alias", is_inside=True),
)
