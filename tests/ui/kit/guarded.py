"""A registry with access rules, and users of few rights who sign in at its page.

`reader` may read flights-value and shared-value, and knows nothing else. `lister` may also list all other subjects.
`writer` may also write flights-value. `settler` may use frozen-value and moved-value, and read their settings.
`auditor` may read all of the registry, and write nothing. `stranger` may do nothing. None but `settler`, `auditor` and
`admin` may read settings.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import httpx
from playwright.sync_api import Page

from magicbyte.platform.server_process import ServerProcess
from magicbyte.security.sign_in.password_hash import hash_password
from magicbyte.testing import running_registry
from tests.ui.conftest import OpenPage
from tests.ui.kit.filling import CUSTOMER, flight, register
from tests.ui.kit.watch import Watch

#: Opens a path as a user.
As = Callable[[str, str], Page]
USERS = ("admin", "reader", "lister", "writer", "settler", "auditor", "stranger")
RULES = """\
allow User:reader READ SUBJECT LITERAL flights-value
allow User:reader READ SUBJECT LITERAL shared-value
allow User:lister DESCRIBE SUBJECT LITERAL *
allow User:lister READ SUBJECT LITERAL flights-value
allow User:writer READ,WRITE SUBJECT LITERAL flights-value
allow User:settler READ,WRITE,DESCRIBE_CONFIGS SUBJECT LITERAL frozen-value
allow User:settler READ,WRITE,DESCRIBE_CONFIGS SUBJECT LITERAL moved-value
allow User:auditor READ,DESCRIBE_CONFIGS SUBJECT LITERAL *
allow User:auditor DESCRIBE,DESCRIBE_CONFIGS REGISTRY LITERAL *
"""
_SHARED = {"type": "record", "name": "Shared", "fields": [{"name": "city", "type": "string"}]}


def access_settings(folder: Path, server: str, rules: str, users: Sequence[str] = USERS) -> dict[str, str]:
    """The settings of a server with access rules. `admin` may do everything; each user's password is its name.

    Args:
        folder: Where the files of users and rules are written.
        server: The server, for the names of its files.
        rules: The rules.
        users: The users.
    """
    users_file, rules_file = folder / f"{server}-users", folder / f"{server}-rules"
    users_file.write_text("".join(f"{name}:{hash_password(name)}\n" for name in users))
    users_file.chmod(0o600)
    rules_file.write_text(rules)
    return {
        "authentication.method": "BASIC",
        "magicbyte.users.file": str(users_file),
        "magicbyte.acl.store": f"file:{rules_file}",
        "super.users": "User:admin",
    }


@contextmanager
def guarded_registry(
    folder: Path, rest_url: str = "", *, properties: Mapping[str, str] | None = None
) -> Iterator[ServerProcess]:
    """Run the registry. Each user's password is its name.

    Args:
        folder: Where its files of users and rules are written.
        rest_url: The REST proxy behind the page, if there is one.
        properties: Further settings.
    """
    settings = {
        **access_settings(folder, "registry", RULES),
        **({"magicbyte.ui.rest.url": rest_url} if rest_url else {}),
        **(properties or {}),
    }
    with running_registry("memory:", properties=settings) as server:
        with httpx.Client(base_url=server.url, auth=("admin", "admin"), trust_env=False) as client:
            _fill(client)
        yield server


def signing_in(url: str, open_page: OpenPage, watch: Watch) -> As:
    """Return a function that opens a path of the page as a user."""
    for status in (401, 403, 404):
        watch.expect(status)

    def open_as(user: str, path: str) -> Page:
        page = open_page(url, http_credentials={"username": user, "password": user})
        page.goto(path)
        return page

    return open_as


def _fill(client: httpx.Client) -> None:
    for version in (1, 2, 3):
        register(client, "flights-value", flight(version))
    register(client, "frozen-value", flight(1))
    register(client, "moved-value", flight(2))
    register(client, "secret-value", json.dumps(CUSTOMER), "JSON")
    register(client, "secret-value", json.dumps({**CUSTOMER, "title": "Client"}), "JSON")
    register(client, "shared-value", json.dumps(_SHARED))
    holder = {"type": "record", "name": "Holder", "fields": [{"name": "shared", "type": "Shared"}]}
    refers = {"name": "Shared", "subject": "shared-value", "version": 1}
    register(client, "holder-value", json.dumps(holder), references=[refers])
    register(client, "gone-value", '"long"')
    client.delete("/subjects/gone-value").raise_for_status()
    client.put("/config/flights-value", json={"compatibility": "NONE"}).raise_for_status()
    client.put("/mode/frozen-value", json={"mode": "READONLY"}).raise_for_status()
    client.put("/mode/moved-value?force=true", json={"mode": "IMPORT"}).raise_for_status()
