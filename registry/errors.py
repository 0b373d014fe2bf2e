"""The registry's error table: the reference's codes and texts."""

from __future__ import annotations

from magicbyte.kit.errors import ApiError, ErrorKind

SUBJECT_NOT_FOUND = ErrorKind(40401, "Subject '{subject}' not found.")
VERSION_NOT_FOUND = ErrorKind(40402, "Version {version} not found.")
SCHEMA_NOT_FOUND = ErrorKind(40403, "Schema not found")
ID_NOT_FOUND = ErrorKind(40403, "Schema {id} not found")
SUBJECT_SOFT_DELETED = ErrorKind(40404, "Subject '{subject}' was soft deleted.Set permanent=true to delete permanently")
SUBJECT_NOT_SOFT_DELETED = ErrorKind(
    40405, "Subject '{subject}' was not deleted first before being permanently deleted"
)
VERSION_SOFT_DELETED = ErrorKind(
    40406, "Subject '{subject}' Version {version} was soft deleted.Set permanent=true to delete permanently"
)
VERSION_NOT_SOFT_DELETED = ErrorKind(
    40407, "Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
)
SUBJECT_CONFIG_NOT_FOUND = ErrorKind(40408, "Subject '{subject}' does not have subject-level compatibility configured")
SUBJECT_MODE_NOT_FOUND = ErrorKind(40409, "Subject '{subject}' does not have subject-level mode configured")

DENIED = ErrorKind(40301, "User is denied operation {operation} on {type}: {name}")


def denied(operation: str, resource_type: str, name: str) -> ApiError:
    """Return the refusal of an operation: `DESCRIBE_CONFIGS` on a `SUBJECT` is `DescribeConfigs on Subject`."""
    operation, resource_type = (word.title().replace("_", "") for word in (operation, resource_type))
    return DENIED(operation=operation, type=resource_type, name=name)


INCOMPATIBLE_SCHEMA = ErrorKind(
    409, 'Schema being registered is incompatible with an earlier schema for subject "{subject}", details: {details}'
)
INCOMPATIBLE_SCHEMA_8 = ErrorKind(40901, INCOMPATIBLE_SCHEMA.message)

#: Ours: why a node does not give up the lead.
NOT_THE_LEADER = ErrorKind(40911, "This node does not lead: {leader}")
NO_ELECTION = ErrorKind(40912, "The storage {storage} has no leader: each node on it takes writes itself")
NO_SUCCESSOR = ErrorKind(
    40913, "No other node that may lead is in the group '{group}'. Start one, or stop this one without a successor."
)
SILENT_MEMBER = ErrorKind(
    40914,
    "{url} may lead too, but does not answer: no node could lead until its session has ended "
    "(kafkagroup.session.timeout.ms). Ask again then.",
)
STILL_LEADS = ErrorKind(503, "{reason}, so this node goes on to lead. Ask again later.")

#: Ours: a client has as many /events open as it may.
TOO_MANY_FOLLOWERS = ErrorKind(
    429, "This client has {limit} /events open, and may have no more (magicbyte.events.max.per.client)."
)

#: Ours: an import of a mirror that is no longer the one that writes into the context.
MIRROR_FENCED = ErrorKind(
    40990,
    "Context '{context}' is at epoch {epoch} of its mirrors, not {asked}: another mirror or a promotion took over.",
)

PRECONDITION_FAILED = ErrorKind(41201, "The latest version of subject '{subject}' is {latest}, not {expected}.")

INVALID_SCHEMA = ErrorKind(42201, "Invalid schema of type {type}, details: {details}")
INVALID_SCHEMA_VERSION = ErrorKind(
    42201, "Invalid schema {{subject={subject},version={version},id={id},schemaType={type}}}, details: {details}"
)
UNKNOWN_SCHEMA_TYPE = ErrorKind(42201, "Invalid schema type {type}")
EMPTY_SCHEMA = ErrorKind(42201, "Empty schema")
VERSION_OUT_OF_TURN = ErrorKind(42201, "Version is not one more than previous version")
INVALID_VERSION = ErrorKind(
    42202,
    "The specified version '{version}' is not a valid version id. "
    'Allowed values are between [1, 2^31-1] and the string "latest"',
)
INVALID_COMPATIBILITY_LEVEL = ErrorKind(
    42203,
    "Invalid compatibility level. Valid values are none, backward, forward, full, backward_transitive, "
    "forward_transitive, and full_transitive",
)
INVALID_COMPATIBILITY_POLICY = ErrorKind(
    42203, "Invalid compatibility policy. Valid values are strict, lenient, and logical"
)
UNSUPPORTED_POLICY = ErrorKind(42203, "The compatibility policy {policy} is not supported; use STRICT or LENIENT")
INVALID_MODE = ErrorKind(42204, "Invalid mode. Valid values are READWRITE, READONLY, IMPORT and FORWARD.")
FORWARD_MODE_NOT_GLOBAL = ErrorKind(42204, "Forward mode only supported on global level")
READ_ONLY = ErrorKind(42205, "Subject {subject} in context {context} is in read-only mode")
NOT_IN_IMPORT_MODE = ErrorKind(42205, "Subject {subject} in context {context} is not in import mode")
NOT_IN_READ_WRITE_MODE = ErrorKind(42205, "Subject {subject} in context {context} is not in read-write mode")
ID_OVERWRITE = ErrorKind(42205, "Overwrite new schema with id {id} in context {context} is not permitted.")
VERSION_OVERWRITE = ErrorKind(
    42205, "Overwriting version {version} of subject {subject} is not permitted (magicbyte.import.overwrite=false)."
)
SUBJECTS_EXIST = ErrorKind(42205, "Cannot import since found existing subjects")
MODE_IMMUTABLE = ErrorKind(42205, "Mode changes are not allowed")
REFERENCE_EXISTS = ErrorKind(
    42206,
    "One or more references exist to the schema {{magic=1,keytype=SCHEMA,subject={subject},version={version}}}.",
)
ID_MISMATCH = ErrorKind(42207, "The id {id} does not match the id {expected} of the existing schema")
INVALID_SUBJECT = ErrorKind(42208, "The specified subject '{subject}' is not a valid.")
SCHEMA_TOO_LARGE = ErrorKind(42209, "Register operation failed because schema is too large")
TOO_LARGE_TO_READ = ErrorKind(
    42209, "Reading the schema, or what it refers to, takes too much time or memory; make it smaller or simpler"
)
TOO_LARGE_TO_COMPARE = ErrorKind(
    42209,
    "Comparing the schema with earlier versions takes more than 1000000 steps or 1.2 seconds; make it smaller or "
    "simpler, compare it with fewer versions, or register it with force=true",
)
TOO_LARGE_TO_CHECK = ErrorKind(
    42209,
    "Checking the rules takes too much time; make the expressions shorter or fewer, or set magicbyte.rules.check=off",
)
INVALID_RULE_SET = ErrorKind(42210, "{detail}")
CONTEXT_NOT_EMPTY = ErrorKind(42211, "The specified context '{context}' is not empty.")
LAST_RULE = ErrorKind(42212, "No access rule would be left; only a super user may remove the last one.")
IDS_EXHAUSTED = ErrorKind(
    42230,
    "Context '{context}' has no schema id left: {last}, the largest one, has been given. "
    "Register the schema in another context.",
)
VERSIONS_EXHAUSTED = ErrorKind(
    42231,
    "Subject '{subject}' has no version left: {last}, the largest one, has been given. "
    "Register the schema under another subject.",
)
CONTEXT_WITH_COLON = ErrorKind(400, "Context name '{context}' cannot contain a colon")
MISSING_BODY = ErrorKind(422, "{detail}")
INVALID_PARAMETER = ErrorKind(400, "{detail}")

STORE_FAILED = ErrorKind(50001, "{text}")
OPERATION_TIMED_OUT = ErrorKind(50002, "{text}")
FORWARDING_FAILED = ErrorKind(50003, "Error while forwarding {operation} request to the leader")
UPDATE_WITHOUT_LEADER = ErrorKind(50004, "{text}")
#: Ours: this node did not reach the offset of the request's token in time.
NODE_BEHIND = ErrorKind(
    503, "This node has not read the log up to {place} within {seconds} s. Ask again, or ask another node."
)
#: Ours: this node has not read the log for so long that it may hold what was deleted.
NODE_SUSPENDED = ErrorKind(
    503,
    "This node was suspended, and has not read the log again within {seconds} s. Ask again, or ask another node; "
    "/health/ready tells what is wrong.",
)
BUSY = ErrorKind(503, "All processes that read and compare large schemas are busy; try again")
