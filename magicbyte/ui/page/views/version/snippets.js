/** Short programs that read or write with a version, for the menu Copy as. */

/**
 * @typedef {{registry: string, subject: string, topic: string, version: number, id: number, type: string}} Facts
 *   `topic` is empty if the subject's name has no topic
 */

/** @type {[string, (facts: Facts) => string][]} */
export const SNIPPETS = [
  ["Python", python],
  ["Java", java],
  ["Node", node],
  ["Go", go],
  ["magicbyte produce", produce],
  ["Spark", spark],
];

/** The topic in a subject's name, by the default strategy. @param {string} subject */
export function topicOf(subject) {
  return subject.match(/^(.+)-(?:key|value)$/s)?.[1] ?? "";
}

/** A text as a literal that is valid in Python, Java, JavaScript and Go. @param {string} text */
function literal(text) {
  return JSON.stringify(text);
}

/** Quotes a text as one word of a POSIX shell. @param {string} text */
function word(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", `'\\''`) + "'";
}

/** @param {Facts} facts */
function python({ registry, subject, version }) {
  return `from confluent_kafka.schema_registry import SchemaRegistryClient

client = SchemaRegistryClient({"url": ${literal(registry)}})
registered = client.get_version(${literal(subject)}, ${version})
print(registered.schema_id, registered.schema.schema_str)
`;
}

/** @param {Facts} facts */
function java({ registry, subject, version }) {
  return `import io.confluent.kafka.schemaregistry.client.CachedSchemaRegistryClient;

var client = new CachedSchemaRegistryClient(${literal(registry)}, 1000);
var metadata = client.getSchemaMetadata(${literal(subject)}, ${version});
System.out.println(metadata.getId() + " " + metadata.getSchema());
`;
}

/** @param {Facts} facts */
function node({ registry, subject, version }) {
  return `import { SchemaRegistryClient } from "@confluentinc/schemaregistry";

const client = new SchemaRegistryClient({ baseURLs: [${literal(registry)}] });
const metadata = await client.getSchemaMetadata(${literal(subject)}, ${version});
console.log(metadata.id, metadata.schema);
`;
}

/** @param {Facts} facts */
function go({ registry, subject, version }) {
  return `client, err := schemaregistry.NewClient(schemaregistry.NewConfig(${literal(registry)}))
if err != nil {
	log.Fatal(err)
}
metadata, err := client.GetSchemaMetadata(${literal(subject)}, ${version})
if err != nil {
	log.Fatal(err)
}
fmt.Println(metadata.ID, metadata.Schema)
`;
}

/** @param {Facts} facts */
function produce({ registry, subject, topic, id }) {
  const part = subject.endsWith("-key") ? "--key-schema-id" : "--value-schema-id";
  return `magicbyte produce ${word(topic || "TOPIC")} --schema-registry-url ${word(registry)} ${part} ${id}\n`;
}

/** @type {Record<string, string>} */
const COLUMNS = { AVRO: "from_confluent_avro", JSON: "from_confluent_json", PROTOBUF: "from_confluent_protobuf" };

/** @param {Facts} facts */
function spark({ registry, subject, topic, type }) {
  const column = COLUMNS[type] ?? COLUMNS.AVRO;
  const part = subject.endsWith("-key") ? "key" : "value";
  return `from spark_avro import ${column}, session

spark = session(${literal(topic || "example")})
records = (
    spark.readStream.format("kafka")
    .option("kafka.bootstrap.servers", "localhost:9092")
    .option("subscribe", ${literal(topic || "TOPIC")})
    .load()
)
decoded = records.select(${column}(${literal(part)}, subject=${literal(subject)}, registry=${literal(registry)}))
`;
}
