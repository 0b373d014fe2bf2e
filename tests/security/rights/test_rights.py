"""Access rules: which of them decides, and which cannot be."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from magicbyte.security.principal import ANONYMOUS, Principal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.rights.rule import IMPLIED_BY, OPERATIONS, Rule, RuleError, make_rule
from magicbyte.security.rights.rule_file import RuleFileError, format_rules, parse_line, read_rule_file
from magicbyte.security.rights.rule_set import Rules

ALICE = Principal("User:alice", frozenset(("Group:ops",)))
BOB = Principal("User:bob")
HERE = "10.1.2.3"


def rules(*lines: str, super_users: frozenset[str] = frozenset()) -> Rules:
    return Rules((rule for line in lines for rule in parse_line(line)), super_users)


@pytest.mark.parametrize(
    ("lines", "operation", "name", "allowed"),
    [
        ((), "READ", "orders", False),
        (("allow User:alice READ SUBJECT LITERAL orders",), "READ", "orders", True),
        (("allow User:alice READ SUBJECT LITERAL orders",), "READ", "orders-secret", False),
        (("allow User:alice READ SUBJECT LITERAL orders",), "READ", "Orders", False),
        (("allow User:alice READ SUBJECT LITERAL orders",), "WRITE", "orders", False),
        (("allow User:alice READ SUBJECT PREFIXED orders",), "READ", "orders-secret", True),
        (("allow User:alice READ SUBJECT PREFIXED orders",), "READ", "order", False),
        (("allow User:alice READ SUBJECT LITERAL *",), "READ", ":.tenant:orders", True),
        (("allow User:alice READ SUBJECT PREFIXED *",), "READ", "orders", False),
        (("allow User:bob READ SUBJECT LITERAL orders",), "READ", "orders", False),
        (("allow Group:ops READ SUBJECT LITERAL orders",), "READ", "orders", True),
        (("allow User:* READ SUBJECT LITERAL orders",), "READ", "orders", True),
        (("allow User:alice ALL SUBJECT LITERAL orders",), "DELETE", "orders", True),
        # What includes DESCRIBE.
        (("allow User:alice READ SUBJECT LITERAL orders",), "DESCRIBE", "orders", True),
        (("allow User:alice WRITE SUBJECT LITERAL orders",), "DESCRIBE", "orders", True),
        (("allow User:alice DELETE SUBJECT LITERAL orders",), "DESCRIBE", "orders", True),
        (("allow User:alice ALTER_CONFIGS SUBJECT LITERAL orders",), "DESCRIBE", "orders", False),
        (("allow User:alice ALTER_CONFIGS SUBJECT LITERAL orders",), "DESCRIBE_CONFIGS", "orders", True),
        (("allow User:alice DESCRIBE SUBJECT LITERAL orders",), "READ", "orders", False),
        # A denial wins, whoever and however it is told.
        (
            ("allow User:alice ALL SUBJECT LITERAL *", "deny Group:ops READ SUBJECT PREFIXED orders-"),
            "READ",
            "orders-a",
            False,
        ),
        (
            ("allow User:alice ALL SUBJECT LITERAL *", "deny User:* ALL SUBJECT LITERAL orders-a"),
            "DESCRIBE",
            "orders-a",
            False,
        ),
        (
            ("allow User:alice ALL SUBJECT LITERAL *", "deny User:alice READ SUBJECT LITERAL orders"),
            "DESCRIBE",
            "orders",
            True,
        ),
        (
            ("allow User:alice READ SUBJECT LITERAL orders", "deny User:alice WRITE SUBJECT LITERAL orders"),
            "READ",
            "orders",
            True,
        ),
        # Contexts.
        (("allow User:alice READ SUBJECT PREFIXED :.a:",), "READ", ":.a:x", True),
        (("allow User:alice READ SUBJECT PREFIXED :.a:",), "READ", ":.ab:x", False),
        (("allow User:alice READ SUBJECT PREFIXED :.:",), "READ", "x", True),
        (("allow User:alice READ SUBJECT PREFIXED :.:",), "READ", ":.a:x", False),
        (("allow User:alice READ SUBJECT PREFIXED :.:or",), "READ", "orders", True),
        (("allow User:alice READ SUBJECT LITERAL :.:orders",), "READ", "orders", True),
        (("allow User:alice READ SUBJECT PREFIXED orders",), "READ", ":.a:orders", False),
        # Another type of the same name.
        (("allow User:alice READ TOPIC LITERAL orders",), "READ", "orders", False),
        # Hosts.
        (("allow User:alice READ SUBJECT LITERAL orders from 10.0.0.0/8",), "READ", "orders", True),
        (("allow User:alice READ SUBJECT LITERAL orders from 10.1.2.4",), "READ", "orders", False),
        (
            ("allow User:alice READ SUBJECT LITERAL orders", "deny User:alice READ SUBJECT LITERAL * from 10.1.2.3"),
            "READ",
            "orders",
            False,
        ),
    ],
)
def test_the_rules_decide_each_request(lines: tuple[str, ...], operation: str, name: str, allowed: bool):
    assert rules(*lines).decide(ALICE, HERE, operation, "SUBJECT", name).is_allowed is allowed


def test_super_users_come_before_denials():
    denied = "deny User:* ALL SUBJECT LITERAL *"
    assert rules(denied, super_users=frozenset(("Group:ops",))).decide(ALICE, HERE, "READ", "SUBJECT", "x").is_allowed
    assert not rules(denied, super_users=frozenset(("Group:ops",))).decide(BOB, HERE, "READ", "SUBJECT", "x").is_allowed


def test_everybody_does_not_mean_anonymous():
    everybody = rules("allow User:* READ SUBJECT LITERAL *")
    assert not everybody.decide(ANONYMOUS, HERE, "READ", "SUBJECT", "x").is_allowed
    assert everybody.decide(BOB, HERE, "READ", "SUBJECT", "x").is_allowed
    by_name = rules("allow User:ANONYMOUS READ SUBJECT LITERAL *")
    assert by_name.decide(ANONYMOUS, HERE, "READ", "SUBJECT", "x").is_allowed


def test_a_decision_names_its_rule():
    compiled = rules("allow User:alice ALL SUBJECT LITERAL *", "deny User:alice WRITE SUBJECT PREFIXED sealed.")
    assert str(compiled.decide(ALICE, HERE, "WRITE", "SUBJECT", "sealed.x").rule) == (
        "deny User:alice WRITE SUBJECT PREFIXED sealed."
    )
    assert str(compiled.decide(ALICE, HERE, "READ", "SUBJECT", "sealed.x").rule) == (
        "allow User:alice ALL SUBJECT LITERAL *"
    )
    assert compiled.decide(BOB, HERE, "READ", "SUBJECT", "x").rule is None


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("permit User:a READ SUBJECT LITERAL x", "write allow|deny PRINCIPAL OPERATION[,OPERATION] TYPE LITERAL|"),
        ("allow User:a READ SUBJECT LITERAL x y", "write allow|deny"),
        ("allow User:a READ SUBJECT LITERAL x at 10.0.0.1", "write allow|deny"),
        ("allow alice READ SUBJECT LITERAL x", "principal 'alice' must be User:NAME, Group:NAME or User:*"),
        ("allow Group:* READ SUBJECT LITERAL x", "principal 'Group:*' must be User:NAME, Group:NAME or User:*"),
        ("allow User:a READ SUBJECTS LITERAL x", "resource type SUBJECTS must be one of SUBJECT, REGISTRY, TOPIC"),
        ("allow User:a CREATE SUBJECT LITERAL x", "operation CREATE means nothing on a SUBJECT; use READ, WRITE, DEL"),
        ("allow User:a READ SUBJECT MATCH x", "pattern type MATCH must be LITERAL or PREFIXED"),
        ("allow User:a READ SUBJECT PREFIXED :.a", "prefix ':.a' does not end its context, so it would also cover"),
        ("allow User:a READ SUBJECT PREFIXED :", "prefix ':' does not end its context"),
        ("allow User:a READ SUBJECT LITERAL x from here", "host 'here' must be *, an IP address, or a network"),
        ('allow User:a READ SUBJECT LITERAL "x', "'\"x' is neither a word nor a JSON string"),
        ('allow User:a READ SUBJECT LITERAL ""', "a name has 1 to 1024 characters and no control character"),
        ('allow User:a READ SUBJECT LITERAL "\\u0000"', "a name has 1 to 1024 characters and no control character"),
        ("quota User:a producer_byte_rate=1", "quotas are not supported; remove the line"),
    ],
)
def test_a_line_that_is_no_rule(line: str, text: str):
    with pytest.raises(RuleError) as raised:
        parse_line(line)
    assert str(raised.value).startswith(text)


def test_a_file_is_taken_whole_or_not_at_all(tmp_path: Path):
    path = tmp_path / "rules"
    path.write_text(
        "# teams\n"
        'allow "User:CN=a b,O=c" READ,WRITE TOPIC PREFIXED "orders 1"\n'
        "deny User:* ALL SUBJECT LITERAL sealed from 10.0.0.0/8\n"
    )
    text = (
        'allow "User:CN=a b,O=c" READ TOPIC PREFIXED "orders 1"\n'
        'allow "User:CN=a b,O=c" WRITE TOPIC PREFIXED "orders 1"\n'
        "deny User:* ALL SUBJECT LITERAL sealed from 10.0.0.0/8\n"
    )
    assert format_rules(read_rule_file(path)) == text
    authorizer = Authorizer(frozenset(), path)
    path.write_text("allow User:* ALL SUBJECT LITERAL *\ndeny User:* ALL SUBJ")
    with pytest.raises(RuleFileError, match=r"rules, line 2: write allow\|deny"):
        authorizer.reload()
    assert format_rules(authorizer.rules.all) == text
    path.write_text("allow User:bob READ SUBJECT LITERAL *\n")
    authorizer.reload()
    assert authorizer.decide_by(authorizer.rules, BOB, HERE, "READ", "SUBJECT", "x").is_allowed
    assert authorizer.counts == {("SUBJECT", "READ", "allowed"): 1}


def test_a_change_of_the_rules_forgets_earlier_decisions():
    authorizer = Authorizer(frozenset())
    authorizer.replace(parse_line("allow User:bob READ SUBJECT LITERAL *"))
    assert authorizer.decide_by(authorizer.rules, BOB, HERE, "READ", "SUBJECT", "x").is_allowed
    authorizer.replace(parse_line("deny User:bob READ SUBJECT LITERAL *"))
    assert not authorizer.decide_by(authorizer.rules, BOB, HERE, "READ", "SUBJECT", "x").is_allowed


def by_definition(every: list[Rule], principal: Principal, operation: str, name: str) -> bool:
    """The definition of a decision, without an index."""
    who = {principal.name, *principal.groups, "User:*"}

    def matches(rule: Rule) -> bool:
        if rule.pattern_type == "LITERAL":
            return rule.resource in ("*", name)
        if rule.resource == ":.:":
            return not name.startswith(":.")
        return name.startswith(rule.resource)

    about = [rule for rule in every if rule.principal in who and rule.resource_type == "SUBJECT" and matches(rule)]
    if any(rule.permission == "DENY" and rule.operation in (operation, "ALL") for rule in about):
        return False
    enough = (operation, "ALL", *IMPLIED_BY.get(operation, ()))
    return any(rule.permission == "ALLOW" and rule.operation in enough for rule in about)


def some_rules(count: int, seed: int) -> list[Rule]:
    chance = random.Random(seed)
    names = ["a", "ab", "abc", "b", "*", ":.x:", ":.x:a", ":.:"]
    made: list[Rule] = []
    while len(made) < count:
        name, pattern = chance.choice(names), chance.choice(("LITERAL", "PREFIXED"))
        if (name == ":.:" and pattern == "LITERAL") or (name == "*" and pattern == "PREFIXED"):
            continue
        made.append(
            make_rule(
                chance.choice(("User:alice", "User:bob", "Group:ops", "User:*")),
                chance.choice((*OPERATIONS["SUBJECT"], "ALL")),
                "SUBJECT",
                name,
                pattern_type=pattern,
                permission=chance.choice(("ALLOW", "ALLOW", "DENY")),
            )
        )
    return made


@pytest.mark.parametrize("seed", range(30))
def test_the_index_decides_as_the_definition_does(seed: int):
    every = some_rules(1 + seed % 12, seed)
    compiled = Rules(every)
    for principal in (ALICE, BOB):
        for operation in OPERATIONS["SUBJECT"]:
            for name in ("a", "ab", "abd", "c", ":.x:a", ":.x:b", ":.y:a"):
                decided = compiled.decide(principal, HERE, operation, "SUBJECT", name)
                assert decided.is_allowed is by_definition(every, principal, operation, name), (every, name)


def test_ten_thousand_rules_cost_no_more_than_ten():
    def seconds(count: int) -> tuple[float, float]:
        every = [
            make_rule("User:alice", "READ", "SUBJECT", f"team{number}.", pattern_type="PREFIXED")
            for number in range(count)
        ]
        compiled = Rules([*every, make_rule("User:alice", "READ", "SUBJECT", "orders")])
        first = min(timed(compiled, f"orders{number}") for number in range(200))
        compiled.decide(ALICE, HERE, "READ", "SUBJECT", "orders")
        return first, min(timed(compiled, "orders") for _ in range(200))

    def timed(compiled: Rules, name: str) -> float:
        began = time.perf_counter()
        compiled.decide(ALICE, HERE, "READ", "SUBJECT", name)
        return time.perf_counter() - began

    few, many = seconds(10), seconds(10_000)
    assert many[0] < 10 * few[0] + 1e-5
    assert many[1] < 1e-5


def test_a_dry_run_allows_what_it_counts_as_denied(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "rules"
    file.write_text("allow User:alice READ SUBJECT LITERAL a\ndeny User:bob ALL SUBJECT LITERAL *\n")
    authorizer = Authorizer(frozenset(), file, is_dry_run=True)
    with caplog.at_level("WARNING", "magicbyte.security"):
        for principal, operation, resource_type, name in (
            (ALICE, "READ", "SUBJECT", "a"),
            (ALICE, "WRITE", "SUBJECT", "a"),
            (BOB, "READ", "SUBJECT", "a"),
            (BOB, "DESCRIBE", "REGISTRY", "schema-registry"),
        ):
            assert authorizer.decide_by(authorizer.rules, principal, HERE, operation, resource_type, name).is_allowed
        # Whoever may do everything for a while must not be able to make that last.
        assert not authorizer.decide_by(authorizer.rules, BOB, HERE, "ALTER", "REGISTRY", "schema-registry").is_allowed
    assert authorizer.counts == {
        ("SUBJECT", "READ", "allowed"): 1,
        ("SUBJECT", "WRITE", "dry_run"): 1,
        ("SUBJECT", "READ", "dry_run"): 1,
        ("REGISTRY", "DESCRIBE", "dry_run"): 1,
        ("REGISTRY", "ALTER", "denied"): 1,
    }
    assert authorizer.rules.may_some(BOB, HERE, "READ", "SUBJECT")
    assert [record.getMessage() for record in caplog.records] == [
        "magicbyte.authorization.dry.run: User:alice would be denied WRITE on SUBJECT a; nothing is denied now"
    ]


@pytest.mark.parametrize(
    ("lines", "allowed"),
    [
        ((), False),
        (("allow User:bob READ SUBJECT LITERAL a",), True),
        (("allow User:bob ALL SUBJECT PREFIXED :.c:",), True),
        (("allow User:* READ SUBJECT PREFIXED :.:",), True),
        (("allow User:bob WRITE SUBJECT LITERAL *",), False),
        (("allow User:bob READ TOPIC LITERAL *",), False),
        (("allow User:bob READ SUBJECT LITERAL a", "deny User:bob READ SUBJECT LITERAL b"), True),
        (("allow User:bob READ SUBJECT LITERAL a", "deny User:* ALL SUBJECT LITERAL *"), False),
        (("allow User:bob READ SUBJECT LITERAL a from 192.0.2.0/24",), False),
    ],
)
def test_may_some_says_whether_a_principal_may_access_any_resource(lines: tuple[str, ...], allowed: bool) -> None:
    assert rules(*lines).may_some(BOB, HERE, "READ", "SUBJECT") is allowed


def test_a_file_that_was_cut_to_nothing_takes_no_rule_away(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    file.write_text("allow User:alice READ SUBJECT LITERAL a\n")
    authorizer = Authorizer(frozenset(), file)
    file.write_text("")
    with pytest.raises(RuleFileError) as raised:
        authorizer.reload()
    assert str(raised.value) == f"{file} is empty; if it is to have no rules, write a comment line"
    assert authorizer.decide_by(authorizer.rules, ALICE, HERE, "READ", "SUBJECT", "a").is_allowed
    file.write_text("# none\n")
    authorizer.reload()
    assert not authorizer.decide_by(authorizer.rules, ALICE, HERE, "READ", "SUBJECT", "a").is_allowed
    assert read_rule_file(file) == read_rule_file(write_empty(tmp_path), may_be_empty=True) == frozenset()


def write_empty(folder: Path) -> Path:
    path = folder / "empty"
    path.touch()
    return path
