"""Variables `NAME_FILE`, whose file has the value of a property."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from magicbyte.kit.environment import properties_from_environment, variable_of
from magicbyte.kit.failure import Failure
from registry.settings import RegistrySettings
from rest_proxy.settings import RestProxySettings

PREFIX = "SCHEMA_REGISTRY_"


def test_a_property_gets_the_content_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("geheim\n", encoding="utf-8")

    read = properties_from_environment(PREFIX, [(f"{PREFIX}SSL_KEY_PASSWORD_FILE", str(tmp_path / "password"))])

    assert read == {"ssl.key.password": "geheim"}


@pytest.mark.parametrize("path", ["missing", "", "."])
def test_a_file_that_cannot_be_read_is_refused(path: str, tmp_path: Path) -> None:
    """Without its secret, a server would start with less protection than it was told to have."""
    with pytest.raises(Failure, match=rf"^{PREFIX}SSL_KEY_PASSWORD_FILE: .*, which has the value, cannot be read: "):
        properties_from_environment(PREFIX, [(f"{PREFIX}SSL_KEY_PASSWORD_FILE", str(tmp_path / path))])


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "password").write_bytes(b"\xff")

    with pytest.raises(Failure, match=r"cannot be read: it is no UTF-8 text$"):
        properties_from_environment(PREFIX, [(f"{PREFIX}SSL_KEY_PASSWORD_FILE", str(tmp_path / "password"))])


@pytest.mark.parametrize(
    "name",
    [
        "magicbyte.users.file",
        "kafkastore.sasl.oauthbearer.assertion.file",
        "kafkastore.sasl.oauthbearer.assertion.private.key.file",
    ],
)
def test_a_property_that_is_called_so_keeps_its_path(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")

    assert properties_from_environment(PREFIX, [(variable_of(PREFIX, name), str(tmp_path / "file"))]) == {
        name: str(tmp_path / "file")
    }


@pytest.mark.parametrize("settings", [RegistrySettings, RestProxySettings])
def test_no_other_property_of_ours_is_called_so(settings: type[RegistrySettings | RestProxySettings]) -> None:
    names = [field.alias or name for name, field in settings.model_fields.items()]

    assert [name for name in names if re.search(r"[._-]file$", name)] == ["magicbyte.users.file"]
