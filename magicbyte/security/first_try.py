"""Creates everything for a secured registry and REST proxy on this machine: certificates, users, rules and settings."""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from magicbyte.kit.failure import Failure
from magicbyte.kit.whole_file import write_whole
from magicbyte.security.rights.rule_file import format_rules, parse_line
from magicbyte.security.sign_in.edit_users import Line, changing
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.security.tls.authority import Authority

_APP_RULES = (
    "allow User:app READ,WRITE,DESCRIBE_CONFIGS SUBJECT PREFIXED app.",
    # The page compares a subject's settings with the registry's.
    "allow User:app DESCRIBE_CONFIGS REGISTRY LITERAL *",
    "allow User:app READ,WRITE,CREATE TOPIC PREFIXED app.",
    "allow User:app READ GROUP PREFIXED app.",
    # Every path of v3 names the cluster.
    "allow User:app DESCRIBE CLUSTER LITERAL kafka-cluster",
)


@dataclass(frozen=True, slots=True)
class Secured:
    """The files in a folder for a secured registry and REST proxy.

    Attributes:
        ca: The certificate that clients trust.
        client: The key and certificate of the super user `admin`.
        registry: The registry's settings.
        rest_proxy: The REST proxy's settings.
        clients: The settings of a client that signs in as `app` with a password.
        admin: The settings of a client that signs in as the super user with a certificate.
    """

    ca: Path
    client: Path
    registry: Path
    rest_proxy: Path
    clients: Path
    admin: Path


def secured(folder: Path) -> Secured:
    """Return the paths of the files in a folder."""
    return Secured(
        folder / "ca.pem",
        folder / "admin.pem",
        folder / "registry.properties",
        folder / "rest-proxy.properties",
        folder / "client.properties",
        folder / "admin.properties",
    )


def secure(folder: Path, *, registry_port: int, rest_port: int, hosts: Sequence[str] = ()) -> Secured:
    """Create the files in a folder that is empty or does not exist; only its owner can read it.

    Args:
        folder: The folder.
        registry_port: The registry's port.
        rest_port: The REST proxy's port.
        hosts: Further names of the servers, for their certificate.

    Raises:
        Failure: The folder is not empty, or cannot be written.
    """
    folder = folder.expanduser().absolute()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise Failure(f"{folder} is not empty; name a new folder")
        folder.chmod(0o700)
        files = secured(folder)
        _write_certificates(folder, files, hosts)
        passwords = {name: secrets.token_urlsafe(18) for name in ("admin", "app")}
        with changing(folder / "users") as users:
            for name, password in passwords.items():
                users.add(Line(name, hash_password(password), {}))
        _write(folder / "rules", format_rules(rule for line in _APP_RULES for rule in parse_line(line)))
        _write(
            folder / "secrets.properties",
            f"instance={secrets.token_urlsafe(32)}\nkafka={secrets.token_urlsafe(24)}\n"
            + "".join(f"{name}={password}\n" for name, password in passwords.items()),
        )
        _write_settings(folder, files, registry_port, rest_port)
    except OSError as error:
        raise Failure(f"{folder} cannot be written: {error.strerror}") from None
    return files


def point_clients(files: Secured, registry_port: int) -> None:
    """Change the registry's port in the clients' settings, for a later start on another port.

    Raises:
        Failure: A file cannot be read or written.
    """
    line = f"schema.registry.url=https://127.0.0.1:{registry_port}"
    try:
        for path in (files.clients, files.admin):
            before = path.read_text(encoding="utf-8")
            after = re.sub(r"(?m)^schema\.registry\.url=.*$", line, before)
            if after != before:
                write_whole(path, after.encode())
    except OSError as error:
        raise Failure(f"{error.filename} cannot be used: {error.strerror}") from None


def _write_certificates(folder: Path, files: Secured, hosts: Sequence[str]) -> None:
    authority = Authority("Magicbyte first try")
    authority.root.write(folder / "ca-key.pem")
    _write(files.ca, authority.pem.decode())
    names = dict.fromkeys(("localhost", "127.0.0.1", "::1", socket.gethostname(), *hosts))
    authority.server(*names).write(folder / "server.pem")
    authority.client("admin").write(files.client)


def _write_settings(folder: Path, files: Secured, registry_port: int, rest_port: int) -> None:
    shared = {
        "ssl.keystore.location": f"{folder}/server.pem",
        "ssl.truststore.location": str(files.ca),
        "ssl.client.authentication": "REQUESTED",
        "ssl.principal.mapping.rules": "RULE:CN=(\\w+)/$1/",
        "authentication.method": "BASIC,SSL",
        "magicbyte.users.file": f"{folder}/users",
        "magicbyte.inter.instance.secret": f"${{file:{folder}/secrets.properties:instance}}",
        "magicbyte.acl.store": f"file:{folder}/rules",
        "super.users": "User:admin",
    }
    _write_properties(
        files.registry,
        {
            "listeners": f"https://127.0.0.1:{registry_port}",
            "inter.instance.protocol": "https",
            **shared,
        },
    )
    trust = {
        "schema.registry.url": f"https://127.0.0.1:{registry_port}",
        "schema.registry.ssl.truststore.location": str(files.ca),
    }
    registry = {
        **trust,
        "schema.registry.basic.auth.user.info": f"admin:${{file:{folder}/secrets.properties:admin}}",
    }
    _write_properties(
        files.rest_proxy,
        {
            "listeners": f"https://127.0.0.1:{rest_port}",
            **shared,
            **registry,
        },
    )
    app = f"app:${{file:{folder}/secrets.properties:app}}"
    _write_properties(files.clients, {**trust, "schema.registry.basic.auth.user.info": app})
    _write_properties(files.admin, {**trust, "schema.registry.ssl.keystore.location": str(files.client)})


def _write_properties(path: Path, properties: dict[str, str]) -> None:
    _write(path, "".join(f"{name}={value}\n".replace("\\", "\\\\") for name, value in properties.items()))


def _write(path: Path, text: str) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:  # noqa: PTH123  the mode
        file.write(text)
