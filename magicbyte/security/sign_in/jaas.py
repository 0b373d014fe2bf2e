"""Confluent's users: a JAAS login configuration that names a Jetty property file."""

from __future__ import annotations

import hashlib
import hmac
import logging
import re
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.properties_file import read_properties_file
from magicbyte.security.sign_in.users import User, UsersFileError, check_name

log = logging.getLogger("magicbyte.security")

_MODULES = (
    "org.eclipse.jetty.jaas.spi.PropertyFileLoginModule",
    "org.eclipse.jetty.security.jaas.spi.PropertyFileLoginModule",
)
_COMMENTS = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_SECTION = re.compile(r'"?([\w.-]+)"?\s*\{(.*?)\}\s*;', re.DOTALL)
_ENTRY = re.compile(r'([\w.$]+)\s+(\w+)\b\s*((?:[^";]|"(?:\\.|[^"\\])*")*);')
_OPTION = re.compile(r'([\w.-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^\s";]+))')


@dataclass(frozen=True, slots=True, repr=False)
class _Plain:
    """A password, or its MD5, from the property file."""

    text: bytes
    is_md5: bool
    is_slow: bool = False

    def verify(self, secret: bytes) -> bool:
        """Tell whether this is the password."""
        compared = hashlib.md5(secret, usedforsecurity=False).hexdigest().encode() if self.is_md5 else secret
        return hmac.compare_digest(compared, self.text)


def users_file_of(config: Path, realm: str) -> Path:
    """Return the property file that a login configuration names for a realm.

    Raises:
        UsersFileError: There is no such section, or its module is not Jetty's for property files.
    """
    try:
        text = _COMMENTS.sub("", config.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        raise UsersFileError(f"{config} cannot be read as UTF-8 text") from None
    sections = dict(_SECTION.findall(text))
    if realm not in sections:
        raise UsersFileError(f"{config} has no section {realm}; authentication.realm names the section")
    entries = _ENTRY.findall(sections[realm])
    if len(entries) != 1 or entries[0][0] not in _MODULES:
        modules = ", ".join(module for module, _, _ in entries) or "nothing"
        raise UsersFileError(f"{config}: {realm} must have one entry, {_MODULES[0]}; it has {modules}")
    options = {name: double or bare for name, double, bare in _OPTION.findall(entries[0][2])}
    if "file" not in options:
        raise UsersFileError(f'{config}: {realm} must have file="FILE"')
    return Path(options["file"])


def load_property_users(path: Path) -> dict[str, User]:
    """Read Jetty's `user: password,role,..`; roles become groups.

    Raises:
        UsersFileError: The file cannot be read, or the kind of a password is not supported.
    """
    try:
        properties = read_properties_file(path)
    except (OSError, UnicodeDecodeError):
        raise UsersFileError(f"{path} cannot be read as UTF-8 text") from None
    users: dict[str, User] = {}
    for name, value in properties.items():
        password, *roles = (part.strip() for part in value.split(","))
        try:
            check_name(name)
            stored = _password(password)
        except ValueError as error:
            raise UsersFileError(f"{path}: {name}: {error}") from None
        users[name] = User(name, f"User:{name}", stored, frozenset(f"Group:{role}" for role in roles if role))
    log.warning(
        "%s has passwords that anybody who reads it can use; run `magicbyte user import %s --file FILE` and set "
        "magicbyte.users.file",
        path,
        path,
        extra={"event": "passwords_in_clear", "file": str(path)},
    )
    return users


def plain_password(text: str) -> str | None:
    """Return a password from a property file as plain text; None if the file has only its MD5.

    Raises:
        ValueError: The kind is not supported.
    """
    if text.startswith("MD5:"):
        return None
    if text.startswith("CRYPT:"):
        raise ValueError("CRYPT: passwords are not supported; set a new one with `magicbyte user add`")
    return _deobfuscated(text.removeprefix("OBF:")) if text.startswith("OBF:") else text


def _password(text: str) -> _Plain:
    plain = plain_password(text)
    if plain is None:
        return _Plain(text.removeprefix("MD5:").lower().encode(), is_md5=True)
    return _Plain(plain.encode(), is_md5=False)


def _deobfuscated(text: str) -> str:
    """Undo Jetty's obfuscation, which is no encryption."""
    plain, index = bytearray(), 0
    try:
        while index < len(text):
            if text[index] == "U":
                plain.append(int(text[index + 1 : index + 5], 36) >> 8)
                index += 5
            else:
                high, low = divmod(int(text[index : index + 4], 36), 256)
                plain.append((high + low - 254) // 2)
                index += 4
        return plain.decode()
    except (ValueError, UnicodeDecodeError):
        raise ValueError("its OBF: password is malformed") from None
