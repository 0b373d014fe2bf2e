/** The meanings of topics' properties, and Kafka's defaults, which the broker may override. */

/**
 * Name -> meaning, Kafka's default, and the values if there are few.
 * @type {Record<string, {meaning: string, usual: string, values?: string[]}>}
 */
export const MEANINGS = {
  "cleanup.policy": {
    meaning: "What happens to old records: delete removes them, compact keeps the last one of each key.",
    usual: "delete",
    values: ["delete", "compact", "compact,delete"],
  },
  "retention.ms": {
    meaning: "Time for which records are kept, in milliseconds; -1 for ever.",
    usual: "604800000 (7 days)",
  },
  "retention.bytes": { meaning: "The most bytes of a partition before old records go; -1 for no limit.", usual: "-1" },
  "min.insync.replicas": {
    meaning: "Number of replicas that must have a record before acks=all is answered. With fewer, writes fail.",
    usual: "1",
  },
  "max.message.bytes": { meaning: "The largest batch of records, in bytes.", usual: "1048588 (1 MiB)" },
  "compression.type": {
    meaning: "How the broker stores batches; producer keeps them as they come.",
    usual: "producer",
    values: ["producer", "uncompressed", "gzip", "lz4", "snappy", "zstd"],
  },
  "compression.gzip.level": { meaning: "How hard gzip compresses: 1 is fast, 9 is small.", usual: "-1 (gzip's own)" },
  "compression.lz4.level": { meaning: "How hard lz4 compresses, from 1 to 17.", usual: "9" },
  "compression.zstd.level": { meaning: "How hard zstd compresses, up to 22.", usual: "3" },
  "message.timestamp.type": {
    meaning: "Whose time a record has: the producer's, or the broker's when it appends it.",
    usual: "CreateTime",
    values: ["CreateTime", "LogAppendTime"],
  },
  "message.timestamp.before.max.ms": {
    meaning: "Longest time that a record's time may be before the broker's, in milliseconds.",
    usual: "9223372036854775807",
  },
  "message.timestamp.after.max.ms": {
    meaning: "Longest time that a record's time may be after the broker's, in milliseconds.",
    usual: "3600000 (1 hour)",
  },
  "segment.bytes": {
    meaning: "The size of a file of the log. Only closed files are deleted or compacted.",
    usual: "1073741824 (1 GiB)",
  },
  "segment.ms": {
    meaning: "After this time a file is closed even if it is small, in milliseconds.",
    usual: "604800000 (7 days)",
  },
  "segment.jitter.ms": {
    meaning: "A random time by which files are closed earlier, so that not all close at once.",
    usual: "0",
  },
  "segment.index.bytes": { meaning: "The size of a file's index.", usual: "10485760 (10 MiB)" },
  "index.interval.bytes": { meaning: "Number of bytes between two entries of the index.", usual: "4096" },
  "min.cleanable.dirty.ratio": {
    meaning: "Part of a log that must be new before it is compacted, from 0 to 1.",
    usual: "0.5",
  },
  "min.compaction.lag.ms": {
    meaning: "Shortest time for which a record stays before compaction may remove it, in milliseconds.",
    usual: "0",
  },
  "max.compaction.lag.ms": {
    meaning: "After this time a record is due for compaction, in milliseconds.",
    usual: "9223372036854775807",
  },
  "delete.retention.ms": {
    meaning: "Time for which tombstones stay in a compacted topic, in milliseconds.",
    usual: "86400000 (1 day)",
  },
  "file.delete.delay.ms": {
    meaning: "Time for which a deleted file stays on the disk, in milliseconds.",
    usual: "60000",
  },
  "flush.messages": {
    meaning: "Number of records after which the log is written to the disk; replicas are safer.",
    usual: "9223372036854775807",
  },
  "flush.ms": {
    meaning: "Time after which the log is written to the disk, in milliseconds.",
    usual: "9223372036854775807",
  },
  "preallocate": {
    meaning: "Whether the disk space of a file is taken when it is made.",
    usual: "false",
    values: ["false", "true"],
  },
  "unclean.leader.election.enable": {
    meaning: "Whether a replica that lacks records may lead. Then acknowledged records may be lost.",
    usual: "false",
    values: ["false", "true"],
  },
  "leader.replication.throttled.replicas": {
    meaning: "Replicas whose leaders send slowly: partition:broker, or *.",
    usual: "none",
  },
  "follower.replication.throttled.replicas": {
    meaning: "Replicas that fetch slowly: partition:broker, or *.",
    usual: "none",
  },
  "remote.storage.enable": {
    meaning: "Whether old files go to the remote storage.",
    usual: "false",
    values: ["false", "true"],
  },
  "remote.log.copy.disable": {
    meaning: "Whether no further files go to the remote storage.",
    usual: "false",
    values: ["false", "true"],
  },
  "remote.log.delete.on.disable": {
    meaning: "Whether the remote files are deleted when the remote storage is switched off.",
    usual: "false",
    values: ["false", "true"],
  },
  "local.retention.ms": {
    meaning: "Time for which records stay on the broker with remote storage; -2 for retention.ms.",
    usual: "-2",
  },
  "local.retention.bytes": {
    meaning: "The most bytes on the broker with remote storage; -2 for retention.bytes.",
    usual: "-2",
  },
};

/** The sources of a value, in words. @type {Record<string, string>} */
export const SOURCES = {
  DYNAMIC_TOPIC_CONFIG: "set on the topic",
  DYNAMIC_BROKER_CONFIG: "set on the broker",
  DYNAMIC_DEFAULT_BROKER_CONFIG: "set on all brokers",
  STATIC_BROKER_CONFIG: "from the broker's properties",
  DEFAULT_CONFIG: "Kafka's default",
};

/**
 * The value that a property has after a reset, and its source; null if neither the broker nor this table has it.
 * @param {import("../../../api/admin.js").Config} config
 * @returns {{value: string | null, source: string} | null}
 */
export function inherited({ name, value, source, synonyms }) {
  if (source !== "DYNAMIC_TOPIC_CONFIG") return { value, source };
  const next = synonyms.find((synonym) => synonym.source !== "DYNAMIC_TOPIC_CONFIG");
  // Kafka omits the default of a property that has several names on brokers.
  const usual = MEANINGS[name]?.usual;
  return next ?? (usual === undefined ? null : { value: usual, source: "DEFAULT_CONFIG" });
}

/** The problem with a topic's name by Kafka's rules; empty if valid. @param {string} name */
export function nameProblem(name) {
  if (name === "") return "Write a name.";
  if (name === "." || name === "..") return "A topic cannot be called . or ..";
  if (name.length > 249) return `The name has ${name.length} characters; Kafka takes 249.`;
  const wrong = name.match(/[^A-Za-z0-9._-]/u)?.[0];
  return wrong ? `Kafka takes letters A to Z, digits, dots, underscores and hyphens, not “${wrong}”.` : "";
}
