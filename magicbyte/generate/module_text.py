"""The text of a generated module."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

from magicbyte.generate.expressions import (
    COLUMNS,
    STEP,
    Call,
    ClassName,
    Display,
    Expression,
    Import,
    Subscript,
    Text,
    annotated,
    flat,
    laid_out,
    leaves,
)
from magicbyte.generate.literals import docstring, parts, text_literal, width
from magicbyte.generate.model import FIELD, RUNTIME, TEXT, Class, EnumClass, Field, FixedClass, Module, RecordClass
from magicbyte.generate.model import text as text_of

#: The line by which a generated file is known.
MARK = "Made by `magicbyte generate`; changes are lost."
_CLASS_VAR = Import("typing", "ClassVar")
_TUPLE = Import("builtins", "tuple")
_INT = Import("builtins", "int")
_BASES = {EnumClass: Import(RUNTIME, "Symbols"), FixedClass: Import(RUNTIME, "Fixed")}


def module_text(module: Module, siblings: Mapping[str, Module], *, frozen: bool) -> str:
    """The text of a module, formatted as by `ruff format`.

    Args:
        module: The module; its name and those of all siblings are known.
        siblings: All modules by key.
        frozen: Whether records cannot be changed.
    """
    return _Writer(module, siblings, frozen=frozen).text()


class _Writer:
    def __init__(self, module: Module, siblings: Mapping[str, Module], *, frozen: bool) -> None:
        self._module = module
        self._siblings = siblings
        self._frozen = frozen
        self._taken = set(module.names())
        #: The names that imports have in the module.
        self._imports: dict[Import, str] = {}
        self._others: dict[str, str] = {}

    def spell(self, name: Import | ClassName) -> str:
        """The name of an import or a class in this module."""
        if isinstance(name, ClassName):
            member = f".{name.member}" if name.member else ""
            if name.module == self._module.key:
                return name.name + member
            return f"{self._sibling(name.module)}.{name.name}{member}"
        if name not in self._imports:
            self._imports[name] = self._free(name.name)
        return self._imports[name]

    def _sibling(self, key: str) -> str:
        if key not in self._others:
            self._others[key] = self._free(self._siblings[key].name)
        return self._others[key]

    def _free(self, name: str) -> str:
        while name in self._taken or name in self._imports.values() or name in self._others.values():
            name += "_"
        return name

    def text(self) -> str:
        """The whole text."""
        for key in sorted({part.module for part in self._mentioned() if isinstance(part, ClassName)}):
            if key != self._module.key:
                self._sibling(key)
        classes = ["\n".join(self._class(cls)) for cls in self._module.classes]
        table = laid_out(self._table(), self.spell, "", len("__records__ = "))
        blocks = ["\n".join([*self._head(), "", *self._import_lines()]), *classes]
        return "\n\n\n".join(blocks) + f"\n\n\n__records__ = {table}\n"

    def _mentioned(self) -> Iterator[Import | ClassName]:
        for cls in self._module.classes:
            for member in cls.all_fields if isinstance(cls, RecordClass) else ():
                yield from leaves(member.type)
                if member.default is not None:
                    yield from leaves(member.default)

    def _head(self) -> list[str]:
        origins = [f"- {' '.join(origin.split())}" for origin in self._module.origins]
        lines = [f"Records of {self._module.title}.", "", f"{MARK} From:", "", *origins]
        return docstring("\n".join(lines), "")

    def _import_lines(self) -> list[str]:
        by_module: dict[str, list[tuple[str, str]]] = {}
        for name, spelled in self._imports.items():
            if name.module != "builtins" or spelled != name.name:
                by_module.setdefault(name.module, []).append((name.name, spelled))
        lines = ["from __future__ import annotations", ""]
        for group in (sorted(key for key in by_module if key != RUNTIME), [RUNTIME] if RUNTIME in by_module else []):
            lines += [_import_line(key, by_module[key]) for key in group]
            lines += [""] if group else []
        siblings = [(self._siblings[key].name, spelled) for key, spelled in self._others.items()]
        lines += [_import_line(".", [sibling]) for sibling in sorted(siblings)]
        return lines if siblings else lines[:-1]

    def _class(self, cls: Class) -> Iterator[str]:
        if isinstance(cls, RecordClass):
            arguments = [("frozen", Text("True"))] if self._frozen else []
            arguments += [("slots", Text("True")), ("kw_only", Text("True"))]
            yield "@" + flat(Call(Import("dataclasses", "dataclass"), tuple(arguments)), self.spell)
            yield f"class {cls.name}:"
        else:
            yield f"class {cls.name}({self.spell(_BASES[type(cls)])}):"
        yield from docstring(_doc(cls), STEP)
        yield ""
        yield self._constant("__schema__", TEXT, cls.schema)
        yield self._constant("__fullname__", TEXT, cls.full_name)
        aliases = Display("()", tuple((None, text_of(alias)) for alias in cls.aliases))
        yield self._variable("__aliases__", _subscript(_TUPLE, TEXT, Text("...")), aliases)
        if cls.references:
            triples = [Display("()", ((None, text_of(name)), (None, text_of(subject)), (None, Text(str(version)))))
                       for name, subject, version in cls.references]  # fmt: skip
            kind = _subscript(_TUPLE, _subscript(_TUPLE, TEXT, TEXT, _INT), Text("..."))
            yield self._variable("__references__", kind, Display("()", tuple((None, triple) for triple in triples)))
        yield from self._body(cls)

    def _body(self, cls: Class) -> Iterator[str]:
        if isinstance(cls, FixedClass):
            yield self._variable("__size__", _INT, Text(str(cls.size)))
        elif isinstance(cls, EnumClass):
            if cls.default is not None:
                yield self._constant("__default__", TEXT, cls.default)
            yield ""
            for name, symbol in cls.members:
                yield _assigned(f"{STEP}{name} = ", symbol)
        elif isinstance(cls, RecordClass):
            fields = cls.all_fields
            if fields:
                yield ""
            for member in fields:
                yield self._field(member)

    def _field(self, member: Field) -> str:
        return annotated(member.name, member.type, member.default, FIELD, self.spell)

    def _constant(self, name: str, kind: Expression, value: str) -> str:
        return _assigned(f"{STEP}{name}: {flat(_subscript(_CLASS_VAR, kind), self.spell)} = ", value)

    def _variable(self, name: str, kind: Expression, value: Expression) -> str:
        head = f"{STEP}{name}: {flat(_subscript(_CLASS_VAR, kind), self.spell)} = "
        return head + laid_out(value, self.spell, STEP, width(head))

    def _table(self) -> Expression:
        module, classes = self._module, self._module.classes
        types = [(text_of(cls.full_name), ClassName(module.key, cls.name)) for cls in classes]
        arguments: list[tuple[str, Expression]] = [
            ("schema_type", text_of(module.schema_type)),
            ("types", Display("{}", tuple(types))),
        ]
        records = [cls for cls in classes if isinstance(cls, RecordClass)]
        names = [
            (
                text_of(cls.name),
                _dict({member.name: member.wire for member in cls.fields if member.name != member.wire}),
            )
            for cls in records
            if any(member.name != member.wire for member in cls.fields)
        ]
        if names:
            arguments.append(("names", Display("{}", tuple(names))))
        extra = {cls.name: cls.extra.name for cls in records if cls.extra is not None}
        if extra:
            arguments.append(("extra", _dict(extra)))
        if self._others:
            others = tuple((None, Text(spelled)) for spelled in self._others.values())
            arguments.append(("modules", Display("()", others)))
        return Call(Import(RUNTIME, "Table"), tuple(arguments))


def _subscript(base: Expression, *arguments: Expression) -> Expression:
    return Subscript(base, arguments)


def _dict(texts: Mapping[str, str]) -> Display:
    return Display("{}", tuple((text_of(key), text_of(value)) for key, value in texts.items()))


def _assigned(head: str, value: str) -> str:
    """The assignment of a text of any length to a class variable."""
    literal = text_literal(value)
    if width(head) + width(literal) <= COLUMNS:
        return head + literal
    inner = STEP * 2
    lines = [literal] if width(inner) + width(literal) <= COLUMNS else parts(value)
    return f"{head}(\n" + "".join(f"{inner}{line}\n" for line in lines) + f"{STEP})"


def _import_line(module: str, names: list[tuple[str, str]]) -> str:
    ordered = sorted(names, key=lambda pair: (not pair[0].isupper(), not pair[0][0].isupper(), pair[0]))
    renamed = [f"from {module} import {name} as {spelled}" for name, spelled in ordered if name != spelled]
    words = [name for name, spelled in ordered if name == spelled]
    return "\n".join([*renamed, *([_one_import(module, words)] if words else [])])


def _one_import(module: str, words: list[str]) -> str:
    line = f"from {module} import {', '.join(words)}"
    if width(line) <= COLUMNS:
        return line
    return f"from {module} import (\n" + "".join(f"{STEP}{word},\n" for word in words) + ")"


def _doc(cls: Class) -> str:
    """The docstring: the schema's description, and a line for each field that has one."""
    own = (cls.doc or "").strip() or f"The type {cls.full_name}."
    lines = [line for paragraph in own.splitlines() for line in _filled(paragraph, "")]
    described = [
        (member.name, " ".join(member.doc.split()))
        for member in (cls.all_fields if isinstance(cls, RecordClass) else ())
        if member.doc and member.doc.strip()
    ]
    if described:
        lines += ["", "Attributes:"]
    for name, doc in described:
        lines += _filled(f"{name}: {doc}", STEP)
    return "\n".join(lines)


def _filled(paragraph: str, indent: str) -> list[str]:
    if not paragraph.strip():
        return [""]
    room = COLUMNS - len(STEP)
    return textwrap.wrap(
        paragraph,
        room,
        initial_indent=indent,
        subsequent_indent=indent + STEP if indent else "",
        break_long_words=False,
        break_on_hyphens=False,
    )
