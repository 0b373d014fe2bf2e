"""The rule of every operation of both servers, word for word as the documents have it.

`open`: no sign-in. `auth`: everybody who has signed in. `filter OP TYPE`: the answer leaves out the rest. `id OP TYPE`:
what may not be seen is as if it were unknown. `A and B`: both are needed. `A or B`: one of them is.
"""

from __future__ import annotations

from magicbyte.http.routing.access import Access, Operation
from magicbyte.http.routing.rows import Row

REGISTRY = {
    "listSubjects": "filter DESCRIBE SUBJECT",
    "lookUpSchema": "READ or WRITE SUBJECT",
    "deleteSubject": "DELETE SUBJECT",
    "listVersions": "DESCRIBE SUBJECT",
    "registerSchema": "WRITE SUBJECT",
    "getVersion": "READ SUBJECT",
    "deleteVersion": "DELETE SUBJECT",
    "tagVersion": "READ SUBJECT and WRITE SUBJECT",
    "getVersionOutline": "READ SUBJECT",
    "getVersionText": "READ SUBJECT",
    "listReferrers": "DESCRIBE SUBJECT",
    "compareVersions": "READ SUBJECT",
    "compareText": "READ SUBJECT",
    "getGraph": "READ SUBJECT",
    "listHolders": "DESCRIBE SUBJECT",
    "getLatestWithMetadata": "READ SUBJECT",
    "undeleteSubject": "WRITE SUBJECT and DELETE SUBJECT",
    "undeleteVersion": "WRITE SUBJECT and DELETE SUBJECT",
    "listSchemas": "filter READ SUBJECT",
    "listTypes": "auth",
    "getById": "id READ SUBJECT",
    "getTextById": "id READ SUBJECT",
    "listSubjectsById": "filter READ SUBJECT",
    "listVersionsById": "filter READ SUBJECT",
    "getByGuid": "id READ SUBJECT",
    "listIdsByGuid": "filter READ SUBJECT",
    "checkAgainstVersion": "READ SUBJECT",
    "checkAgainstAll": "READ SUBJECT",
    "getGlobalConfig": "DESCRIBE_CONFIGS REGISTRY",
    "putGlobalConfig": "ALTER_CONFIGS REGISTRY",
    "deleteGlobalConfig": "ALTER_CONFIGS REGISTRY",
    "getSubjectConfig": "DESCRIBE_CONFIGS SUBJECT",
    "putSubjectConfig": "ALTER_CONFIGS SUBJECT",
    "deleteSubjectConfig": "ALTER_CONFIGS SUBJECT",
    "getGlobalMode": "DESCRIBE_CONFIGS REGISTRY",
    "putGlobalMode": "ALTER_CONFIGS REGISTRY",
    "deleteGlobalMode": "ALTER_CONFIGS REGISTRY",
    "getSubjectMode": "DESCRIBE_CONFIGS SUBJECT",
    "putSubjectMode": "ALTER_CONFIGS SUBJECT",
    "deleteSubjectMode": "ALTER_CONFIGS SUBJECT",
    "listContexts": "filter DESCRIBE SUBJECT",
    "deleteContext": "DELETE SUBJECT",
    "getOverview": "filter DESCRIBE SUBJECT",
    "getRights": "filter DESCRIBE SUBJECT",
    "checkRules": "filter READ SUBJECT",
    "makeOutline": "filter READ SUBJECT",
    "searchSchemas": "filter READ SUBJECT",
    "followChanges": "filter READ SUBJECT",
    "exportAll": "filter READ SUBJECT",
    "importAll": "filter WRITE SUBJECT and filter ALTER_CONFIGS SUBJECT",
    "listRules": "DESCRIBE REGISTRY",
    "addRules": "ALTER REGISTRY",
    "replaceRules": "ALTER REGISTRY",
    "removeRules": "ALTER REGISTRY",
    "repairLog": "ALTER REGISTRY",
    "stepDown": "ALTER REGISTRY",
    "root": "auth",
    "postRoot": "auth",
    "getClusterId": "auth",
    "getServerVersion": "auth",
    "getDeployment": "DESCRIBE REGISTRY",
    "live": "open",
    "ready": "open",
    "startup": "open",
    "health": "open",
    "masterAvailable": "open",
    "metrics": "DESCRIBE REGISTRY",
    "docs": "auth",
    "openapi": "auth",
}

REST_PROXY = {
    "root": "auth",
    "postRoot": "auth",
    "brokers": "DESCRIBE CLUSTER",
    "topics": "filter DESCRIBE TOPIC",
    "topic": "DESCRIBE TOPIC",
    "partitions": "DESCRIBE TOPIC",
    "partition": "DESCRIBE TOPIC",
    "offsets": "DESCRIBE TOPIC",
    "messages": "READ TOPIC",
    "produceToTopic": "WRITE TOPIC",
    "produceToPartition": "WRITE TOPIC",
    "createConsumer": "READ GROUP",
    "deleteConsumer": "READ GROUP",
    "subscribe": "READ GROUP and READ TOPIC",
    "subscription": "READ GROUP",
    "unsubscribe": "READ GROUP",
    "records": "READ GROUP and READ TOPIC",
    "readTopic": "READ GROUP and READ TOPIC",
    "commit": "READ GROUP and READ TOPIC",
    "committed": "READ GROUP and READ TOPIC",
    "seek": "READ GROUP and READ TOPIC",
    "seekToBeginning": "READ GROUP and READ TOPIC",
    "seekToEnd": "READ GROUP and READ TOPIC",
    "assign": "READ GROUP and READ TOPIC",
    "assignments": "READ GROUP",
    "live": "open",
    "ready": "open",
    "contract": "auth",
    "metrics": "DESCRIBE CLUSTER",
}
#: By id, nothing is in the path that a rule could be about.
_BY_ID = ("{id}", "{guid}")


def rule_of(row: Row) -> str:
    """A row's rule in these words."""
    if row.access.operation is Operation.NOTHING:
        return "open"
    if row.access.operation is Operation.SIGN_IN:
        return "auth"
    return words_of(row.access, is_by_id=any(name in row.path for name in _BY_ID))


def words_of(access: Access, *, is_by_id: bool = False) -> str:
    """A rule in these words, as the table of rows has it."""
    kind = "filter " if access.filters else "id " if is_by_id else ""
    operations = " or ".join(str(operation.name) for operation in access.operation)
    words = f"{kind}{operations} {access.resource.name}"
    return words if access.also is None else f"{words} and {words_of(access.also, is_by_id=is_by_id)}"
