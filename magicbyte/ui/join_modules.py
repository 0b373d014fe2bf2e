"""Joins the modules that the first visit needs into one, because HTTP/1.1 loads six at a time."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence

#: An import of another module of the page, in the form that `deno fmt` gives it.
_IMPORT = re.compile(r'^import (?P<names>[^"]+?) from "(?P<path>\.[^"]+)";$', re.MULTILINE)
#: A dynamic import; comments name types in the same form, as `import("./types.d.ts")`.
_LATER_IMPORT = re.compile(r'(?P<before>=>|await|return) import\("(?P<path>\.[^"]+)"\)')
_EXPORT = re.compile(
    r"^export (?P<default>default )?(?=(?:async )?(?:function\*?|class|const) (?P<name>\w+))", re.MULTILINE
)
_OTHER_EXPORT = re.compile(r"^export .*", re.MULTILINE)
_ALIAS = re.compile(r"(\w+) as (\w+)")
#: The exports of a bundled library, at its end.
_EXPORT_LIST = re.compile(r"\bexport\{(?P<names>[^{}]*)\};\s*$")


def join_modules(modules: Mapping[str, str], roots: Sequence[str]) -> tuple[dict[str, str], set[str]]:
    """Return the modules as they are sent, and the paths of those that are in the first root now.

    The first root contains all that the roots import, each module in its own scope.

    A joined module's own file only exports the first root's copy, so that the module exists once for all importers.
    All other modules import it from the first root.

    Args:
        modules: The texts of all modules, by their paths.
        roots: The paths of the modules to join; no module imports the first one.

    Raises:
        ValueError: A module to join has an export of another form than a function, a class, a constant, or a list at
            its end.
    """
    joined = _Joined(modules, roots)
    sent = {path: joined.shortened(path) for path in modules}
    sent[roots[0]] = joined.text()
    return sent, set(joined.names) - {roots[0]}


class _Joined:
    def __init__(self, modules: Mapping[str, str], roots: Sequence[str]) -> None:
        self._modules = modules
        self._root = roots[0]
        #: Path -> the variable that holds the exports.
        self.names: dict[str, str] = {}
        for root in roots:
            self._add(root)

    def text(self) -> str:
        """The module that contains the others."""
        return "".join([self._part(path) for path in self.names])

    def shortened(self, path: str) -> str:
        """A module beside the joined one."""
        root = posixpath.relpath(self._root, posixpath.dirname(path) or ".")
        root = root if root.startswith(".") else f"./{root}"
        if path in self.names:
            names = self._exports(path)
            default = "export default part.default;\n" if names.pop("default", None) else ""
            constants = f"export const {{ {', '.join(names)} }} = part;\n" if names else ""
            return f'import {{ {self.names[path]} as part }} from "{root}";\n{constants}{default}'
        text = self._modules[path]
        used = {self.names[target]: None for target in _imports(path, text) if target in self.names}
        if not used:
            return text
        text = _IMPORT.sub(lambda match: self._constants(path, match, self.names), text)
        return f'import {{ {", ".join(used)} }} from "{root}";\n{text}'

    def _add(self, path: str) -> None:
        if path not in self.names and path in self._modules:
            for target in _imports(path, self._modules[path]):
                self._add(target)
            self.names[path] = f"${len(self.names)}"

    def _part(self, path: str) -> str:
        """A joined module: a function with its text, which returns its exports."""
        exports = ", ".join(f"{name}: {variable}" for name, variable in self._exports(path).items())
        returned = f"return {{ {exports} }};\n" if exports else ""
        text = _EXPORT.sub("", _EXPORT_LIST.sub("\n", self._modules[path]))
        text = _IMPORT.sub(lambda match: self._constants(path, match, self.names), text)
        text = _LATER_IMPORT.sub(lambda match: self._later(path, match), text)
        text = text.replace("import.meta.url", f'new URL("./{path}", import.meta.url).href')
        return f"// {path}\nexport const {self.names[path]} = (() => {{\n{text}{returned}}})();\n"

    def _exports(self, path: str) -> dict[str, str]:
        """The names of a module's exports, and the variables in it."""
        text = self._modules[path]
        listed = _EXPORT_LIST.search(text)
        if listed is not None:
            pairs = [item.split(" as ") for item in listed["names"].split(",")]
            return {pair[-1]: pair[0] for pair in pairs}
        other = _OTHER_EXPORT.search(_EXPORT.sub("", text))
        if other is not None:
            msg = f"{path}: {other[0]!r} cannot be joined; export a function, a class or a constant with its name"
            raise ValueError(msg)
        return {"default" if match["default"] else match["name"]: match["name"] for match in _EXPORT.finditer(text)}

    @staticmethod
    def _constants(path: str, match: re.Match[str], names: Mapping[str, str]) -> str:
        """The replacement of an import whose module is one of `names`."""
        name = names.get(_target(path, match["path"]))
        if name is None:
            return match[0]
        if match["names"].startswith("{"):
            renamed = _ALIAS.sub(r"\1: \2", match["names"])
            return f"const {renamed} = {name};"
        if match["names"].startswith("*"):
            return f"const {match['names'].removeprefix('* as ')} = {name};"
        return f"const {match['names']} = {name}.default;"

    def _later(self, path: str, match: re.Match[str]) -> str:
        target = _target(path, match["path"])
        # The module may be further down, as the roots are.
        module = (
            f"Promise.resolve().then(() => {self.names[target]})" if target in self.names else f'import("./{target}")'
        )
        return f"{match['before']} {module}"


def _imports(path: str, text: str) -> list[str]:
    return [_target(path, match["path"]) for match in _IMPORT.finditer(text)]


def _target(path: str, link: str) -> str:
    """The path of a module that another one imports."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
