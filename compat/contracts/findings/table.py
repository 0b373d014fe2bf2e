"""The checks of rule sets by their codes."""

from __future__ import annotations

from collections.abc import Mapping

#: Code -> what it finds.
CHECKS: Mapping[str, str] = {
    "rule-set": "a rule set is malformed: a name, a kind, a mode or a list of it",
    "rule-type": "no client knows the type of a rule",
    "rule-action": "an action is unknown or empty, or there are more than two",
    "rule-list": "a rule is in a list that rules of its type cannot be in",
    "no-expression": "a rule lacks its expression, or the expression is too long",
    "cel-syntax": "an expression of CEL does not parse",
    "cel-type": "an expression of CEL does not fit the types of the schema",
    "cel-parameter": "a parameter of CEL has a value that is not supported",
    "condition-type": "a condition or a guard is no bool",
    "jsonata-syntax": "an expression of JSONATA does not parse",
    "encrypt-parameter": "a parameter of encryption is missing, malformed or unknown",
    "encrypt-type": "a rule encrypts a field that cannot be encrypted",
    "encrypt-failure": "an encryption that fails would publish the plain value",
    "encrypt-one-way": "a rule encrypts, and no rule decrypts",
    "unknown-tag": "a rule has a tag that no field has",
    "tag-pattern": "a pattern of the metadata's tags matches no field",
    "tag-on-record": "a field that holds a record has tags, which do not reach what is in it",
    "no-field": "a rule on fields has no field to select",
    "same-tags": "two rules have the same mode, type and tags, and one is never carried out",
    "after-encryption": "a rule stands after an encryption of the same fields, and sees encrypted values",
    "pattern-not-anchored": "a regular expression has no anchors, so clients match it differently",
    "constant-condition": "a condition, a guard or a comparison is the same for every message",
    "outside-enum": "a field is compared with a text that is no symbol of its enum",
    "field-never-written": "an expression reads a field that no version of the schema declares",
    "jsonata-union": "an expression of JSONATA reads a union, which clients show in different forms",
    "not-checked": "a rule was not checked",
}
