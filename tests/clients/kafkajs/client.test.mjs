// KafkaJS's client against the registry at REGISTRY_URL.

import assert from "node:assert/strict";
import test from "node:test";
import kafkajs from "@kafkajs/confluent-schema-registry";

const { SchemaRegistry, SchemaType, COMPATIBILITY } = kafkajs;
const registry = new SchemaRegistry({ host: process.env.REGISTRY_URL });

test("Avro is registered, encoded and decoded", async () => {
  const schema = JSON.stringify({
    type: "record", name: "User", namespace: "kafkajs", fields: [{ name: "name", type: "string" }],
  });
  const { id } = await registry.register({ type: SchemaType.AVRO, schema }, { subject: "kafkajs-avro" });
  const message = await registry.encode(id, { name: "Ada" });
  assert.equal(message.toString("hex"), "00" + id.toString(16).padStart(8, "0") + "06416461");
  assert.equal((await registry.decode(message)).name, "Ada");
  assert.equal(await registry.getLatestSchemaId("kafkajs-avro"), id);
  assert.equal(await registry.getRegistryId("kafkajs-avro", 1), id);
  assert.equal(await registry.getRegistryIdBySchema("kafkajs-avro", { type: SchemaType.AVRO, schema }), id);
});

test("JSON Schema is registered, encoded and decoded", async () => {
  const schema = JSON.stringify({ type: "object", properties: { name: { type: "string" } } });
  const { id } = await registry.register({ type: SchemaType.JSON, schema }, { subject: "kafkajs-json" });
  assert.deepEqual(await registry.decode(await registry.encode(id, { name: "Ada" })), { name: "Ada" });
});

test("Protobuf is registered, encoded and decoded", async () => {
  const schema = 'syntax = "proto3"; package kafkajs; message User { string name = 1; }';
  const { id } = await registry.register({ type: SchemaType.PROTOBUF, schema }, { subject: "kafkajs-proto" });
  assert.equal((await registry.decode(await registry.encode(id, { name: "Ada" }))).name, "Ada");
});

test("an Avro reference is followed", async () => {
  const inner = JSON.stringify({ type: "enum", name: "Colour", namespace: "kafkajs", symbols: ["RED", "BLUE"] });
  await registry.register({ type: SchemaType.AVRO, schema: inner }, { subject: "kafkajs-colour" });
  const schema = JSON.stringify({
    type: "record", name: "Car", namespace: "kafkajs", fields: [{ name: "colour", type: "kafkajs.Colour" }],
  });
  const references = [{ name: "kafkajs.Colour", subject: "kafkajs-colour", version: 1 }];
  const { id } = await registry.register({ type: SchemaType.AVRO, schema, references }, { subject: "kafkajs-car" });
  assert.equal((await registry.decode(await registry.encode(id, { colour: "BLUE" }))).colour, "BLUE");
});

test("an incompatible schema is refused", async () => {
  const record = type =>
    JSON.stringify({ type: "record", name: "A", namespace: "kafkajs", fields: [{ name: "x", type }] });
  const options = { subject: "kafkajs-strict", compatibility: COMPATIBILITY.BACKWARD };
  await registry.register({ type: SchemaType.AVRO, schema: record("int") }, options);
  await assert.rejects(registry.register({ type: SchemaType.AVRO, schema: record("string") }, options), error => {
    assert.equal(error.status, 409);
    return true;
  });
});
