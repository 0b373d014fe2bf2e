"""Every kind of credentials: those that are refused, and one for each right that somebody may have."""

from __future__ import annotations

import json
import time
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding
from joserfc import jwk, jws

from magicbyte.http.routing.identity import digest_of
from magicbyte.kit.secret import Secret
from magicbyte.security.forwarded_identity import IdentitySigner
from magicbyte.security.principal import Principal
from magicbyte.security.rights.rule import OPERATIONS
from magicbyte.security.sign_in.password_hash import hash_key
from magicbyte.security.tls.authority import Authority

ISSUER, AUDIENCE, GROUP_ID = "https://idp.example.com", "magicbyte", "matrix"
INSTANCE_SECRET = "an-instance-secret-of-32-characters"
#: Names inside have this prefix; rules for single operations are about them.
INSIDE = "open."
ADMIN = (("authorization", "Basic YWRtaW46bWJzX2FkbWlu"),)
#: Kafka's: a permission of one includes the other.
IMPLIED = {
    "READ": {"DESCRIBE"},
    "WRITE": {"DESCRIBE"},
    "DELETE": {"DESCRIBE"},
    "ALTER": {"DESCRIBE"},
    "ALTER_CONFIGS": {"DESCRIBE_CONFIGS"},
}
#: Types of which there is one resource; the others have names.
WHOLE = {"REGISTRY": GROUP_ID, "CLUSTER": "kafka-cluster"}
NAMED = ("SUBJECT", "TOPIC", "GROUP")


@dataclass(frozen=True, eq=False)
class Held:
    """The rights of a principal: operations by type, on names inside and on names outside."""

    inside: Mapping[str, frozenset[str]] = field(default_factory=dict)
    outside: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def may(self, operation: str, resource_type: str, *, is_inside: bool) -> bool:
        """Tell whether somebody may; there is no inside of the registry and the cluster."""
        held = self.inside if is_inside or resource_type in WHOLE else self.outside
        return operation in held.get(resource_type, frozenset())


EVERYTHING = {kind: frozenset(operations) for kind, operations in OPERATIONS.items()}
NOTHING = Held()


@dataclass(frozen=True, eq=False)
class Credentials:
    """The credentials that a request presents.

    Attributes:
        name: For the report of a failure.
        headers: Sent with the request.
        held: What their principal may do; None if they are refused.
        status: The status of the refusal.
        is_bearer: The challenge names the token as invalid.
        certificate: The client's certificate, DER.
        expires: When that expires.
    """

    name: str
    headers: tuple[tuple[str, str], ...] = ()
    held: Held | None = None
    status: int = 401
    is_bearer: bool = False
    certificate: bytes | None = None
    expires: float | None = None


def basic(name: str, secret: str) -> str:
    return "Basic " + b64encode(f"{name}:{secret}".encode()).decode()


def single(kind: str, operation: str) -> str:
    return f"{kind}-{operation}".lower().replace("_", "-")


def people() -> dict[str, tuple[list[str], Held]]:
    """Name -> access rules and what they amount to."""
    listed: dict[str, tuple[list[str], Held]] = {"nobody": ([], NOTHING)}
    for kind, operations in OPERATIONS.items():
        resource = f"LITERAL {WHOLE[kind]}" if kind in WHOLE else f"PREFIXED {INSIDE}"
        for operation in operations:
            name = single(kind, operation)
            held = Held({kind: frozenset({operation, *IMPLIED.get(operation, ())} & {*operations})})
            listed[name] = ([f"allow User:{name} {operation} {kind} {resource}"], held)
    every = [f"ALL {kind} LITERAL {WHOLE.get(kind, '*')}" for kind in OPERATIONS]
    allowed = {
        name: [f"allow {principal} {what}" for what in every]
        for name, principal in (
            ("everything", "User:everything"),
            ("in-group", "Group:everybody"),
            ("denied", "User:denied"),
        )
    }
    listed["everything"] = (allowed["everything"], Held(EVERYTHING, EVERYTHING))
    listed["in-group"] = (allowed["in-group"], Held(EVERYTHING, EVERYTHING))
    listed["admin"] = ([], Held(EVERYTHING, EVERYTHING))
    denials = [f"deny User:denied ALL {kind} PREFIXED {INSIDE}" for kind in NAMED]
    denials += [f"deny User:denied ALL {kind} LITERAL {name}" for kind, name in WHOLE.items()]
    listed["denied"] = (allowed["denied"] + denials, Held({}, EVERYTHING))
    listed["outsider"] = ([f"allow User:outsider ALL {kind} PREFIXED alien." for kind in NAMED], NOTHING)
    listed["lookalike"] = ([f"allow User:lookalike ALL {kind} LITERAL {INSIDE}" for kind in NAMED], NOTHING)
    listed["elsewhere"] = ([f"allow User:elsewhere {what} from 192.0.2.0/24" for what in every], NOTHING)
    return listed


class Identities:
    """Files of users, keys and rules, and whatever clients may present."""

    def __init__(self, folder: Path, audience: str = GROUP_ID) -> None:
        """Make them.

        Args:
            folder: Gets the files.
            audience: What the nodes of the server call their group.
        """
        self.people = people()
        self._authority = Authority()
        self._key, self._stranger = jwk.ECKey.generate_key("P-256"), jwk.ECKey.generate_key("P-256")
        users, keys, rules = folder / "users", folder / "keys.json", folder / "rules"
        extra = {"disabled": "disabled=true", "expired": "expires=2020-01-01T00:00:00Z", "far": "from=192.0.2.0/24"}
        groups = {"in-group": ":groups=everybody"}
        lines = [f"{name}:{hash_key('mbs_' + name)}{groups.get(name, '')}" for name in self.people]
        lines += [f"{name}:{hash_key('mbs_' + name)}:principal=User:admin;{what}" for name, what in extra.items()]
        users.write_text("".join(f"{line}\n" for line in lines))
        users.chmod(0o600)
        keys.write_text(json.dumps({"keys": [{**self._key.as_dict(private=False), "kid": "ours"}]}))
        rules.write_text("".join(f"{line}\n" for lines, _ in self.people.values() for line in lines))
        self.properties = {
            "authentication.method": "BASIC,BEARER,SSL",
            "authentication.realm": "matrix",
            "ssl.principal.mapping.rules": "RULE:^CN=(.+),O=matrix$/$1/",
            "magicbyte.users.file": str(users),
            "magicbyte.acl.store": f"file:{rules}",
            "super.users": "User:admin",
            "magicbyte.authentication.failure.ms": "0",
            "magicbyte.authentication.failures.per.minute": "60000000",
            "oauthbearer.expected.issuer": ISSUER,
            "oauthbearer.expected.audience": AUDIENCE,
            "oauthbearer.jwks.endpoint.url": keys.as_uri(),
            "magicbyte.inter.instance.secret": INSTANCE_SECRET,
        }
        self.refused = self._refused(audience)
        self.accepted = self._accepted()
        self.all = [*self.refused, *self.accepted]

    def token(self, key: Any = None, algorithm: str = "ES256", **changes: Any) -> str:
        now = int(time.time())
        every = {"iss": ISSUER, "aud": AUDIENCE, "sub": "admin", "iat": now, "exp": now + 3600, **changes}
        payload = json.dumps({name: value for name, value in every.items() if value is not None}).encode()
        header = {"alg": algorithm, "kid": "ours"}
        return "Bearer " + jws.serialize_compact(header, payload, key or self._key, algorithms=[algorithm])

    def certificate(self, name: str, organization: str = "matrix") -> bytes:
        return self._authority.client(name, organization=organization).certificate.public_bytes(Encoding.DER)

    def identity(self, secret: str, audience: str, method: str = "GET", target: str = "/elsewhere") -> str:
        signer = IdentitySigner(Secret(secret), None, audience)
        return signer.sign(Principal("User:admin"), "10.9.9.9", method, target, digest_of(b""))

    def _refused(self, audience: str) -> list[Credentials]:
        headers = {
            "none": "",
            "unknown user": basic("stranger", "mbs_admin"),
            "no name": basic("", "mbs_admin"),
            "wrong password": basic("admin", "mbs_wrong"),
            "empty password": basic("admin", ""),
            "another's password": basic("admin", "mbs_everything"),
            "other case": basic("ADMIN", "mbs_admin"),
            "disabled": basic("disabled", "mbs_disabled"),
            "expired": basic("expired", "mbs_expired"),
            "from elsewhere": basic("far", "mbs_far"),
            "scheme alone": "Basic",
            "no base64": "Basic !!!!",
            "no colon": "Basic " + b64encode(b"admin").decode(),
            "NUL": basic("admin", "mbs_admin\0"),
            "too long": basic("admin", "x" * 2000),
            "other scheme": "Digest username=admin",
            "no scheme": b64encode(b"admin:mbs_admin").decode(),
        }
        tokens = {
            "garbage": "Bearer x.y.z",
            "no signature": self.token().rpartition(".")[0] + ".",
            "foreign key": self.token(self._stranger),
            "token expired": self.token(exp=int(time.time()) - 60),
            "token without end": self.token(exp=None),
            "other audience": self.token(aud="magicbyte2"),
            "other issuer": self.token(iss=ISSUER + "/"),
            "not yet": self.token(nbf=int(time.time()) + 600),
            "nobody's": self.token(sub=""),
        }
        good = basic("admin", "mbs_admin")
        return [
            *(Credentials(name, (("authorization", value),) if value else ()) for name, value in headers.items()),
            *(Credentials(name, (("authorization", value),), is_bearer=True) for name, value in tokens.items()),
            Credentials("in a cookie", (("cookie", f"authorization={good}"),)),
            Credentials("for a proxy", (("proxy-authorization", good),)),
            Credentials("two", (("authorization", good), ("authorization", good)), status=400),
            Credentials("forged identity", (("magicbyte-identity", self.identity("x" * 32, audience)),)),
            Credentials("other group's identity", (("magicbyte-identity", self.identity(INSTANCE_SECRET, "other")),)),
            Credentials(
                "other request's identity", (("magicbyte-identity", self.identity(INSTANCE_SECRET, audience)),)
            ),
            Credentials("a claim to be forwarded", (("x-forward", "true"), ("x-magicbyte-forwarded", "http://peer"))),
            Credentials("certificate expired", certificate=self.certificate("admin"), expires=time.time() - 1),
            Credentials("certificate without a rule", certificate=self.certificate("admin", "other")),
            Credentials(
                "wrong password, good certificate",
                (("authorization", basic("admin", "mbs_wrong")),),
                certificate=self.certificate("admin"),
            ),
        ]

    def _accepted(self) -> list[Credentials]:
        listed = [
            Credentials(name, (("authorization", basic(name, f"mbs_{name}")),), held)
            for name, (_, held) in self.people.items()
        ]
        for name in ("nobody", "everything", "denied", "admin"):
            held = self.people[name][1]
            listed.append(Credentials(f"{name}, token", (("authorization", self.token(sub=name)),), held))
            certificate = self.certificate(name)
            listed.append(Credentials(f"{name}, certificate", (), held, certificate=certificate))
        token = self.token(sub="in-token", groups=["everybody"])
        listed.append(Credentials("group of a token", (("authorization", token),), Held(EVERYTHING, EVERYTHING)))
        return listed
