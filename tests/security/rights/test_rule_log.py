"""Access rules in the registry's log: in force as a whole, and given only by those who hold them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from magicbyte.kit.errors import ApiError
from magicbyte.security.principal import Principal
from magicbyte.security.rights.authorizer import Authorizer
from magicbyte.security.rights.delegation import Holdings
from magicbyte.security.rights.rule import Rule
from magicbyte.security.rights.rule_file import format_rules, parse_line
from registry.cluster.lead.takeover import amends
from registry.decide import Decision, decide_add_rules, decide_remove_rules, decide_replace_rules
from registry.decide.access_rules import Author, RuleChange
from registry.log.port import LogEntry
from registry.state import records
from registry.state.records import Key, Undecodable
from registry.state.view import View

ADMIN = Author(Principal("User:admin"), "127.0.0.1", is_super_user=True)
ALICE = Principal("User:alice", frozenset(("Group:ops",)))
HERE = "10.1.2.3"


def rules(*lines: str) -> frozenset[Rule]:
    return frozenset(rule for line in lines for rule in parse_line(line))


def rule(line: str) -> Rule:
    return next(iter(parse_line(line)))


READ_ORDERS = rule("allow User:a READ SUBJECT PREFIXED orders- from 10.0.0.0/8")
KEY = (
    b'{"keytype":"MAGICBYTE_ACL","principal":"User:a","host":"10.0.0.0/8","resource_type":"SUBJECT",'
    b'"resource":"orders-","pattern_type":"PREFIXED","operation":"READ","permission":"ALLOW","magic":0}'
)


def test_a_rule_is_a_key_of_these_bytes():
    assert records.encode_key(Key("MAGICBYTE_ACL", rule=READ_ORDERS)) == KEY
    assert records.decode_key(KEY) == Key("MAGICBYTE_ACL", rule=READ_ORDERS)
    set_key = b'{"keytype":"MAGICBYTE_ACL_SET","magic":0}'
    assert records.encode_key(Key("MAGICBYTE_ACL_SET")) == set_key
    assert records.decode_key(set_key) == Key("MAGICBYTE_ACL_SET")


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"operation": "FLY"}, "operation FLY means nothing on a SUBJECT"),
        ({"principal": 7}, "principal must be a string"),
        ({"resource": None}, "resource is missing"),
        ({"host": "here"}, "host 'here' must be \\*, an IP address, or a network"),
    ],
)
def test_a_key_that_is_no_rule(part: dict[str, Any], text: str):
    raw = json.dumps({**json.loads(KEY), **part}).encode()
    with pytest.raises(Undecodable, match=f"a MAGICBYTE_ACL key is not an access rule: {text}"):
        records.decode_key(raw)


class Fold:
    """A view, and the records that it was given."""

    def __init__(self) -> None:
        self.view = View()
        self.entries: list[LogEntry] = []

    def add(self, key: bytes | None, value: bytes | None) -> None:
        entry = LogEntry(len(self.entries), key, value, 1000)
        self.entries.append(entry)
        self.view.apply(entry)

    def commit(self, decide: Callable[..., Decision[RuleChange]], *lines: str, author: Author = ADMIN) -> RuleChange:
        decision = decide(self.view, 1234, rules=rules(*lines), author=author)
        for record in decision.records:
            self.add(record.key, record.value)
        return decision.result

    def lines(self) -> str:
        return format_rules(self.view.rules())


def test_rules_are_what_the_records_leave():
    fold = Fold()
    fold.add(KEY, b'{"by":"User:x","at":5}')
    assert fold.view.rules() == [READ_ORDERS]
    assert fold.view.rules_offset == 0
    origin = fold.view.rule_origin(READ_ORDERS)
    assert origin is not None
    assert (origin.author, origin.timestamp) == ("User:x", 5)
    fold.add(KEY, None)
    assert (fold.view.rules(), fold.view.rules_offset) == ([], 1)
    fold.add(b'{"keytype":"MODE","magic":0}', b'{"mode":"READONLY"}')
    assert fold.view.rules_offset == 1


def test_a_rule_that_another_writer_spelt_differently_is_removed_under_both_spellings():
    fold = Fold()
    other = json.dumps({**json.loads(KEY), "operation": "read"}).encode()
    fold.add(other, b"{}")
    fold.add(KEY, b"{}")
    removal = decide_remove_rules(fold.view, 0, rules=frozenset((READ_ORDERS,)), author=ADMIN)
    assert {record.key for record in removal.records if record.value is None} == {KEY, other}


def test_rules_that_are_changed_together_are_in_force_together():
    fold = Fold()
    fold.commit(decide_add_rules, "allow User:a READ SUBJECT LITERAL x")
    assert len(fold.entries) == 1
    decision = decide_replace_rules(
        fold.view, 0, rules=rules("allow User:b READ,WRITE SUBJECT LITERAL x"), author=ADMIN
    )
    assert [json.loads(record.key)["keytype"].removeprefix("MAGICBYTE_") for record in decision.records] == [
        "ACL_SET",
        *["ACL"] * 3,
        "ACL_SET",
    ]
    seen = []
    for record in decision.records:
        fold.add(record.key, record.value)
        seen.append((fold.lines(), fold.view.rules_offset))
    old, new = (
        "allow User:a READ SUBJECT LITERAL x\n",
        ("allow User:b READ SUBJECT LITERAL x\nallow User:b WRITE SUBJECT LITERAL x\n"),
    )
    assert seen == [(old, 0)] * 4 + [(new, 5)]
    replayed = View()
    for entry in fold.entries:
        replayed.apply(entry)
    assert frozenset(replayed.rules()) == frozenset(fold.view.rules())


def test_commands_of_one_batch_see_each_other():
    view = View()
    overlay = View(view)
    for decide, line, added, removed in (
        (decide_add_rules, "allow User:a READ,WRITE SUBJECT LITERAL x", 2, 0),
        (decide_add_rules, "allow User:a READ SUBJECT LITERAL x", 0, 0),
        (decide_replace_rules, "allow User:a WRITE,DELETE SUBJECT LITERAL x", 1, 1),
        (decide_remove_rules, "allow User:a READ,WRITE SUBJECT LITERAL x", 0, 1),
    ):
        decision = decide(overlay, 0, rules=rules(line), author=ADMIN)
        assert (len(decision.result.added), len(decision.result.removed)) == (added, removed)
        for record in decision.records:
            overlay.apply_record(record)
    assert format_rules(overlay.rules()) == "allow User:a DELETE SUBJECT LITERAL x\n"
    assert view.rules() == []


def test_a_new_leader_writes_the_committed_rules_over_aborted_ones():
    fold = Fold()
    fold.add(KEY, b'{"by":"User:x","at":5}')
    gone = KEY.replace(b"READ", b"WRITE")
    mark = b'{"keytype":"MAGICBYTE_ACL_SET","magic":0}'
    aborted = [LogEntry(5, mark, b'{"open":true}', 0), LogEntry(6, KEY, None, 0), LogEntry(7, gone, b"{}", 0)]
    assert [(record.key, record.value) for record in amends(fold.view, aborted, 0)][:-1] == [
        (mark, b'{"open":false}'),
        (KEY, b'{"by":"User:x","at":5}'),
        (gone, None),
    ]


def test_the_view_names_an_unreadable_rule_until_it_is_replaced():
    fold = Fold()
    broken = KEY.replace(b'"READ"', b'"FLY"').replace(b"ALLOW", b"DENY")
    fold.add(broken, b"{}")
    fold.add(KEY, b"no object")
    # Another record that cannot be read, of a subject with that name.
    fold.add(b'{"keytype":"DELETE_SUBJECT","subject":"MAGICBYTE_ACL","magic":0}', b"no object")
    assert [text.partition(":")[0] for text in fold.view.broken_rules.values()] == ["offset 0", "offset 1"]
    assert fold.view.rules() == []
    fold.add(broken, None)
    fold.add(KEY, b"{}")
    assert fold.view.broken_rules == {}
    assert fold.view.rules() == [READ_ORDERS]


def test_the_authorizer_follows_the_log_and_forgets_earlier_decisions():
    fold = Fold()
    authorizer = Authorizer(frozenset())
    authorizer.follow(fold.view)

    def bob_may_read() -> bool:
        authorizer.catch_up()
        return authorizer.rules.decide(Principal("User:bob"), HERE, "READ", "SUBJECT", "x").is_allowed

    assert not bob_may_read()
    fold.commit(decide_add_rules, "allow User:bob READ SUBJECT LITERAL x")
    assert bob_may_read()
    compiled, epoch = authorizer.rules, authorizer.epoch
    fold.add(b'{"keytype":"MODE","magic":0}', b'{"mode":"READONLY"}')
    assert bob_may_read()
    assert authorizer.rules is compiled
    assert authorizer.epoch == epoch
    fold.commit(decide_remove_rules, "allow User:bob READ SUBJECT LITERAL x")
    assert not bob_may_read()


@pytest.mark.parametrize(
    ("held", "given", "lacks"),
    [
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b READ SUBJECT LITERAL a", None),
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b DESCRIBE SUBJECT LITERAL a", None),
        ("allow Group:ops READ SUBJECT LITERAL a", "allow User:b READ SUBJECT LITERAL a", None),
        ("allow User:* READ SUBJECT LITERAL a", "allow User:b READ SUBJECT LITERAL a", None),
        ("allow User:b READ SUBJECT LITERAL a", "allow User:b READ SUBJECT LITERAL a", "READ"),
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b WRITE SUBJECT LITERAL a", "WRITE"),
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b ALL SUBJECT LITERAL a", "WRITE"),
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b READ SUBJECT PREFIXED a", "READ"),
        ("allow User:alice READ SUBJECT LITERAL a", "allow User:b READ TOPIC LITERAL a", "READ"),
        ("allow User:alice READ SUBJECT PREFIXED a", "allow User:b READ SUBJECT PREFIXED ab", None),
        ("allow User:alice READ SUBJECT PREFIXED ab", "allow User:b READ SUBJECT PREFIXED a", "READ"),
        ("allow User:alice READ SUBJECT PREFIXED a", "allow User:b READ SUBJECT LITERAL *", "READ"),
        ("allow User:alice READ SUBJECT LITERAL *", "allow User:b READ SUBJECT PREFIXED :.c:", None),
        ("allow User:alice READ SUBJECT PREFIXED :.:", "allow User:b READ SUBJECT LITERAL a", None),
        ("allow User:alice READ SUBJECT PREFIXED :.:", "allow User:b READ SUBJECT PREFIXED :.:", None),
        ("allow User:alice READ SUBJECT PREFIXED :.:", "allow User:b READ SUBJECT LITERAL *", "READ"),
        ("allow User:alice READ SUBJECT PREFIXED :.:", "allow User:b READ SUBJECT PREFIXED :.c:", "READ"),
        ("allow User:alice READ SUBJECT PREFIXED :.c:", "allow User:b READ SUBJECT PREFIXED :.:", "READ"),
        ("allow User:alice ALL SUBJECT LITERAL *", "allow User:b ALL SUBJECT LITERAL *", None),
        # From where.
        ("allow User:alice READ SUBJECT LITERAL a from 10.0.0.0/8", "allow User:b READ SUBJECT LITERAL a", "READ"),
        (
            "allow User:alice READ SUBJECT LITERAL a from 10.0.0.0/8",
            "allow User:b READ SUBJECT LITERAL a from 10.2.0.0/16",
            None,
        ),
        (
            "allow User:alice READ SUBJECT LITERAL a from 192.168.0.0/16",
            "allow User:b READ SUBJECT LITERAL a from 192.168.0.1",
            "READ",
        ),
        # Denials.
        (
            "allow User:alice ALL SUBJECT LITERAL *\ndeny User:alice READ SUBJECT LITERAL sealed",
            "allow User:b READ SUBJECT PREFIXED sea",
            "READ",
        ),
        (
            "allow User:alice ALL SUBJECT LITERAL *\ndeny User:alice READ SUBJECT LITERAL sealed",
            "allow User:b READ SUBJECT PREFIXED open",
            None,
        ),
        (
            "allow User:alice ALL SUBJECT LITERAL *\ndeny Group:ops ALL SUBJECT PREFIXED sealed from 1.2.3.4",
            "allow User:b READ SUBJECT LITERAL sealed.x",
            "READ",
        ),
    ],
)
def test_an_author_may_grant_only_their_own_rights(held: str, given: str, lacks: str | None):
    assert Holdings(rules(*held.splitlines()), ALICE, HERE).lacks(rule(given)) == lacks


@pytest.mark.parametrize(
    ("decide", "line", "message"),
    [
        (decide_add_rules, "allow User:b WRITE SUBJECT LITERAL x", "Write on Subject: x"),
        (decide_add_rules, "allow User:b DESCRIBE_CONFIGS TOPIC PREFIXED t", "DescribeConfigs on Topic: t"),
        (decide_add_rules, "allow User:b WRITE TRANSACTIONAL_ID LITERAL t", "Write on TransactionalId: t"),
        # A denial that goes is a permission that comes.
        (decide_remove_rules, "deny User:alice READ SUBJECT LITERAL sealed", "Read on Subject: sealed"),
        (decide_replace_rules, "allow User:alice READ SUBJECT LITERAL *", "Read on Subject: sealed"),
        (decide_add_rules, "allow User:b READ SUBJECT PREFIXED open", None),
        (decide_add_rules, "deny User:b ALL SUBJECT LITERAL *", None),
        (decide_remove_rules, "allow User:alice READ SUBJECT LITERAL *", None),
    ],
)
def test_only_a_super_user_grants_rights_beyond_their_own(decide: Any, line: str, message: str | None):
    fold = Fold()
    fold.commit(
        decide_add_rules, "allow User:alice READ SUBJECT LITERAL *", "deny User:alice READ SUBJECT LITERAL sealed"
    )
    alice = Author(ALICE, HERE, is_super_user=False)
    fold_of_admin = Fold()
    for entry in fold.entries:
        fold_of_admin.add(entry.key, entry.value)
    fold_of_admin.commit(decide, line)
    if message is None:
        fold.commit(decide, line, author=alice)
        return
    end = len(fold.entries)
    with pytest.raises(ApiError) as raised:
        fold.commit(decide, line, author=alice)
    assert (raised.value.code, raised.value.message) == (40301, f"User is denied operation {message}")
    assert len(fold.entries) == end


def test_the_last_rule_is_removed_by_super_users_alone():
    last = "allow User:alice READ SUBJECT LITERAL *"
    for decide, lines in ((decide_remove_rules, (last,)), (decide_replace_rules, ())):
        fold = Fold()
        fold.commit(decide_add_rules, last)
        with pytest.raises(ApiError, match="No access rule would be left; only a super user may"):
            fold.commit(decide, *lines, author=Author(ALICE, HERE, is_super_user=False))
        fold.commit(decide, *lines)
        assert fold.view.rules() == []
