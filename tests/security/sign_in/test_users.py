"""Users files and Confluent's property files: what is read, and what is refused."""

from __future__ import annotations

import logging
from ipaddress import ip_network
from pathlib import Path

import bcrypt
import pytest

from magicbyte.security.sign_in.jaas import load_property_users, users_file_of
from magicbyte.security.sign_in.password_hash import dummy_hash, hash_key, hash_password, parse_hash
from magicbyte.security.sign_in.users import UsersFileError, load_users, parse_user

#: As htpasswd -B writes it.
BCRYPT = "$2y$05$kxuG6yOfvJ8nVNeXKZJTTeNPmStwIeaizyKh1Tq6cmuTAyGIj8OIO"
KEY = "$mb-key$v=1$"


def written(path: Path, text: str, mode: int = 0o600) -> Path:
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return path


def test_hashes_verify_what_they_were_made_of():
    argon2 = parse_hash(hash_password("wonderland"))
    assert (argon2.is_slow, argon2.verify(b"wonderland"), argon2.verify(b"other")) == (True, True, False)
    assert hash_password("x").startswith("$argon2id$v=19$m=19456,t=2,p=1$")
    key = parse_hash(hash_key("mbs_secret"))
    assert (key.is_slow, key.verify(b"mbs_secret"), key.verify(b"mbs_")) == (False, True, False)
    assert dummy_hash().is_slow
    assert not dummy_hash().verify(b"")


@pytest.mark.parametrize("letter", ["a", "b", "y"])
def test_bcrypt_is_read_up_to_72_bytes(letter: str):
    hashed = bcrypt.hashpw(b"x" * 72, bcrypt.gensalt(4)).decode()
    verifier = parse_hash(f"$2{letter}{hashed[3:]}")
    assert verifier.verify(b"x" * 72)
    # bcrypt itself would compare the beginning only.
    assert not verifier.verify(b"x" * 73)
    assert not verifier.verify(b"x" * 71)
    assert not verifier.verify(b"x\0" + b"x" * 70)


def test_a_line_has_all_that_belongs_to_a_user():
    hashed = hash_key("s")
    options = "principal=User:ci;groups=ops, dev;expires=2027-01-31T00:00:00Z;from=10.0.0.0/8,::1;disabled"
    user = parse_user(f"mbk_x:{hashed}:{options}")
    assert (user.name, user.principal, user.groups) == ("mbk_x", "User:ci", frozenset(("Group:ops", "Group:dev")))
    assert user.expires == 1801353600.0
    assert user.networks == (ip_network("10.0.0.0/8"), ip_network("::1"))
    assert user.is_disabled
    assert parse_user(f"alice:{hashed}").principal == "User:alice"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("alice", "write name:hash"),
        (":x", "a name has 1 to 255 characters"),
        ("a" * 256 + ":x", "a name has 1 to 255 characters"),
        ("a\x01:x", "a name has no colon and no control character"),
        ("u\u0308:x", "a name is in Unicode's form NFC, without spaces around it"),
        ("alice:secret", "alice: its hash is neither argon2id, bcrypt (htpasswd -B) nor one of `magicbyte key`"),
        ("alice:{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=", "alice: its hash is neither argon2id, bcrypt (htpasswd -B) nor"),
        ("alice:$2y$15$" + "a" * 53, "alice: its bcrypt hash has a cost outside 4 to 14"),
        (
            "alice:$argon2id$v=19$m=65537,t=2,p=1$c2FsdHNhbHQ$aGFzaA",
            "alice: its argon2id hash costs too much; at most m=65536, t=10, p=4",
        ),
        ("alice:$argon2id$v=19$m=64,t=11,p=1$c2FsdHNhbHQ$aGFzaA", "alice: its argon2id hash costs too much"),
        (f"alice:{KEY}{'A' * 43}:role=x", "alice: 'role' is unknown or stands twice; the keys are principal, groups"),
        (f"alice:{KEY}{'A' * 43}:groups=a;groups=b", "alice: 'groups' is unknown or stands twice"),
        (f"alice:{KEY}{'A' * 43}:expires=soon", "alice: expires is no time such as 2027-01-31T00:00:00Z"),
        (f"alice:{KEY}{'A' * 43}:expires=2027-01-31T00:00:00", "alice: expires is no time such as"),
        (f"alice:{KEY}{'A' * 43}:from=10.0.0.1/8", "10.0.0.1/8 is neither an IP address nor a network"),
        (f"alice:{KEY}{'A' * 43}:principal=Group:x", "alice: the principal must be User: and a name"),
        (f"alice:{KEY}{'A' * 43}:disabled=maybe", "alice: disabled is true or false"),
    ],
)
def test_a_line_that_is_wrong_is_named_and_its_hash_is_not_quoted(line: str, text: str):
    with pytest.raises(ValueError, match=r".") as raised:
        parse_user(line)
    assert str(raised.value).startswith(text)
    assert "secret" not in str(raised.value)


def test_files_are_read_together(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    one = written(tmp_path / "1", f"# people\n\nalice:{BCRYPT}\n")
    two = written(tmp_path / "2", f"bob:{hash_key('s')}\n", 0o644)
    assert set(load_users([one, two])) == {"alice", "bob"}
    assert caplog.messages == [f"{two} may be read by everybody on this machine; chmod 600 it"]


@pytest.mark.parametrize(
    ("content", "mode", "text"),
    [
        (f"alice:{BCRYPT}\nalice:{BCRYPT}", 0o600, "{path}, line 2: alice has another line already"),
        (f"alice:{BCRYPT}", 0o660, "{path} may be written by others than its owner; chmod 600 it"),
        (f"alice:{BCRYPT}", 0o602, "{path} may be written by others than its owner; chmod 600 it"),
    ],
)
def test_a_file_that_is_wrong_is_named(tmp_path: Path, content: str, mode: int, text: str):
    path = written(tmp_path / "users", content, mode)
    with pytest.raises(UsersFileError) as raised:
        load_users([path])
    assert str(raised.value) == text.format(path=path)


def test_a_file_that_is_missing_is_named(tmp_path: Path):
    with pytest.raises(UsersFileError, match="/none cannot be read: No such file or directory"):
        load_users([tmp_path / "none"])


JAAS = """
/* users */
KafkaRest { com.sun.Krb5LoginModule required; };
SchemaRegistry {
  org.eclipse.jetty.jaas.spi.PropertyFileLoginModule required
    debug="true" // yes
    file="%s";
};
"""


def test_confluents_property_file_is_read_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    users = written(
        tmp_path / "password-file",
        "alice: wonderland,admin,user\n"
        "bob: OBF:1v2j1uum1xtv1zej1zer1xtn1uvk1v1v\n"
        "carol: MD5:ba995b54d61d33132c409bf272a5c116,user\n",
    )
    config = written(tmp_path / "jaas.conf", JAAS % users)
    found = load_property_users(users_file_of(config, "SchemaRegistry"))
    verified = {name: user.hash.verify(b"wonderland") for name, user in found.items()}
    assert verified == {"alice": True, "bob": False, "carol": False}
    assert found["bob"].hash.verify(b"password")
    assert found["carol"].hash.verify(b"carols")
    assert found["alice"].groups == frozenset(("Group:admin", "Group:user"))
    assert f"run `magicbyte user import {users} --file FILE`" in caplog.text
    assert "wonderland" not in caplog.text + repr(found)


@pytest.mark.parametrize(
    ("realm", "text"),
    [
        ("Other", "{config} has no section Other; authentication.realm names the section"),
        (
            "KafkaRest",
            "{config}: KafkaRest must have one entry, org.eclipse.jetty.jaas.spi.PropertyFileLoginModule;"
            " it has com.sun.Krb5LoginModule",
        ),
    ],
)
def test_another_login_module_refuses_to_start(tmp_path: Path, realm: str, text: str):
    config = written(tmp_path / "jaas.conf", JAAS % "x")
    with pytest.raises(UsersFileError) as raised:
        users_file_of(config, realm)
    assert str(raised.value) == text.format(config=config)


def test_crypt_passwords_refuse_to_start(tmp_path: Path):
    users = written(tmp_path / "password-file", "alice: CRYPT:adpexzg3FUZAk,user\n")
    with pytest.raises(UsersFileError, match="alice: CRYPT: passwords are not supported; set a new one with"):
        load_property_users(users)


def test_the_levels_of_the_log(caplog: pytest.LogCaptureFixture, tmp_path: Path):
    load_property_users(written(tmp_path / "p", "a: b\n"))
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
