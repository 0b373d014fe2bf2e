"""Subjects as Java's X500Principal.getName() writes them, and Kafka's rules that map them."""

from __future__ import annotations

import pytest
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import Name, NameAttribute, ObjectIdentifier, RelativeDistinguishedName
from cryptography.x509.name import _ASN1Type as Type
from cryptography.x509.oid import NameOID as Oid

from magicbyte.security.sign_in.certificate_names import name_of, name_text, parse_mapping_rules, subject_of
from magicbyte.security.tls.authority import Authority

CN, ORG, OU = Oid.COMMON_NAME, Oid.ORGANIZATION_NAME, Oid.ORGANIZATIONAL_UNIT_NAME
CUSTOM = ObjectIdentifier("1.2.3.4.5")

#: Subject, and what Java 17 says of a certificate with it.
SUBJECTS = [
    ([[(CN, "alice")]], "CN=alice"),
    ([[(ORG, "Acme, Inc")], [(OU, "eng")], [(CN, "alice")]], "CN=alice,OU=eng,O=Acme\\, Inc"),
    (
        [
            [(Oid.COUNTRY_NAME, "DE")],
            [(Oid.STATE_OR_PROVINCE_NAME, "Bayern")],
            [(Oid.LOCALITY_NAME, "München")],
            [(CN, "Jürgen")],
        ],
        "CN=Jürgen,L=München,ST=Bayern,C=DE",
    ),
    ([[(CN, " padded ")]], "CN=\\ padded\\ "),
    ([[(CN, "#sharp")]], "CN=\\#sharp"),
    ([[(CN, "a#b=c")]], "CN=a\\#b\\=c"),
    ([[(CN, 'say "hi"')]], 'CN=say \\"hi\\"'),
    ([[(CN, "back\\slash")]], "CN=back\\\\slash"),
    ([[(CN, "a+b<c>d;e")]], "CN=a\\+b\\<c\\>d\\;e"),
    ([[(OU, "eng"), (CN, "alice")]], "OU=eng+CN=alice"),
    (
        [[(Oid.EMAIL_ADDRESS, "alice@example.com", Type.IA5String)], [(CN, "alice")]],
        "CN=alice,1.2.840.113549.1.9.1=#1611616c696365406578616d706c652e636f6d",
    ),
    (
        [
            [(Oid.DOMAIN_COMPONENT, "com", Type.IA5String)],
            [(Oid.DOMAIN_COMPONENT, "example", Type.IA5String)],
            [(Oid.USER_ID, "alice")],
        ],
        "UID=alice,DC=example,DC=com",
    ),
    ([[(Oid.STREET_ADDRESS, "1 Main St")], [(CN, "alice")]], "CN=alice,STREET=1 Main St"),
    ([[(Oid.SERIAL_NUMBER, "42", Type.PrintableString)], [(CN, "alice")]], "CN=alice,2.5.4.5=#13023432"),
    ([[(Oid.TITLE, "Dr")], [(CN, "alice")]], "CN=alice,2.5.4.12=#0c024472"),
    (
        [[(Oid.SURNAME, "Ärger")], [(Oid.GIVEN_NAME, "Al")], [(CN, "alice")]],
        "CN=alice,2.5.4.42=#0c02416c,2.5.4.4=#0c06c38472676572",
    ),
    ([[(CN, "名前")]], "CN=名前"),
    ([[(CN, "bmp", Type.BMPString)]], "CN=\\00b\\00m\\00p"),
    ([[(CUSTOM, "custom")], [(CN, "alice")]], "CN=alice,1.2.3.4.5=#0c06637573746f6d"),
    ([[(CUSTOM, "x" * 200)], [(CN, "a  b")]], "CN=a  b,1.2.3.4.5=#0c81c8" + "78" * 200),
    ([[(CN, "😀 emoji")]], "CN=😀 emoji"),
]


@pytest.mark.parametrize(("parts", "text"), SUBJECTS, ids=[text[:40] for _, text in SUBJECTS])
def test_a_subject_is_written_as_java_does(parts: list[list[tuple[object, ...]]], text: str):
    rdns = [RelativeDistinguishedName([NameAttribute(*part) for part in rdn]) for rdn in parts]  # type: ignore[arg-type]
    assert name_text(Name(rdns)) == text


def test_the_subject_of_a_certificate(authority: Authority):
    alice = authority.client("alice", organization="Acme, Inc").certificate
    from_der = subject_of(alice.public_bytes(Encoding.DER))
    assert from_der == "CN=alice,O=Acme\\, Inc"


@pytest.mark.parametrize(
    ("rules", "subject", "name"),
    [
        ("", "CN=alice,O=Acme", "CN=alice,O=Acme"),
        ("DEFAULT", "CN=alice,O=Acme", "CN=alice,O=Acme"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "CN=svc,OU=ServiceUsers,O=X", "svc"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/", "CN=svc,OU=Other,O=X", None),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/L,DEFAULT", "CN=Adm,OU=Admins,O=X", "adm@admins"),
        ("RULE:CN=(\\w+)/$1/U , DEFAULT", "CN=alice", "ALICE"),
        # All of the subject, not a part of it.
        ("RULE:CN=alice/admin/", "CN=alice,O=Evil", None),
        ("RULE:CN=alice/admin/", "O=x+CN=alice", None),
        ("RULE:CN=a\\/b/slash/", "CN=a/b", "slash"),
        ("RULE:CN=(.*)/\\$1/", "CN=x", "$1"),
        ("RULE:CN=(x)?.*/$1/", "CN=y", None),
        ("", "CN=a\nGroup:ops", None),
        ("RULE:CN=(.*),O=A, B/$1/,DEFAULT", "CN=q,O=A, B", "q"),
    ],
)
def test_a_rule_maps_the_whole_subject(rules: str, subject: str, name: str | None):
    assert name_of(subject, parse_mapping_rules(rules)) == name


@pytest.mark.parametrize(
    ("rules", "text"),
    [
        ("CN=x", "'CN=x' is no rule; write DEFAULT or RULE:pattern/replacement/[L|U]"),
        ("RULE:CN=(.*)/$1/X", "'RULE:CN=(.*)/$1/X' is no rule; write DEFAULT or RULE:pattern/replacement/[L|U]"),
        ("RULE:CN=(.*)/$2/", "the pattern 'CN=(.*)' has no group 2"),
        ("RULE:CN=\\p{Alpha}+/x/", "the pattern 'CN=\\\\p{Alpha}+' can't be used here: bad escape \\p at position 3"),
        ("DEFAULT,", "'DEFAULT,' is no rule; write DEFAULT or RULE:pattern/replacement/[L|U]"),
    ],
)
def test_a_rule_that_can_not_be_kept_refuses_to_start(rules: str, text: str):
    with pytest.raises(ValueError, match=r"rule|pattern") as raised:
        parse_mapping_rules(rules)
    assert str(raised.value) == text
