// KafkaJS's client against the registry at SECURED_URL, which asks for credentials.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import test from "node:test";
import kafkajs from "@kafkajs/confluent-schema-registry";

const { SchemaRegistry, SchemaType, COMPATIBILITY } = kafkajs;
const env = process.env;
const ca = readFileSync(env.SECURED_CA);
const pem = readFileSync(env.SECURED_CERTIFICATE);
const [username, password] = env.SECURED_BASIC.split(":");
const [id, secret] = env.SECURED_KEY.split(":");

// mappersmith's middleware: the one place where this client takes other headers.
const bearer = token => () => ({
  prepareRequest: async next => (await next()).enhance({ headers: { Authorization: `Bearer ${token}` } }),
});
const client = ({ certificate, ...options } = {}) =>
  new SchemaRegistry({
    host: env.SECURED_URL,
    agent: new Agent({ ca, ...(certificate ? { cert: pem, key: pem } : {}) }),
    retry: { retries: 0 },
    ...options,
  });

const methods = {
  basic: { auth: { username, password } },
  key: { auth: { username: id, password: secret } },
  token: { middlewares: [bearer(env.SECURED_TOKEN)] },
  certificate: { certificate: true },
};

for (const [method, options] of Object.entries(methods)) {
  test(`${method}: a schema is registered, encoded and decoded`, async () => {
    const subject = `kafkajs-${method}`;
    const schema = JSON.stringify({
      type: "record", name: "User", namespace: `kafkajs.${method}`, fields: [{ name: "name", type: "string" }],
    });
    const registered = await client(options).register({ type: SchemaType.AVRO, schema }, { subject });
    const reader = client(options);
    const message = await reader.encode(registered.id, { name: "Ada" });
    assert.equal((await client(options).decode(message)).name, "Ada");
    assert.equal(await reader.getLatestSchemaId(subject), registered.id);
    const changed = schema.replace('"type":"string"', '"type":"int"');
    const strict = { subject, compatibility: COMPATIBILITY.BACKWARD };
    await assert.rejects(client(options).register({ type: SchemaType.AVRO, schema: changed }, strict), { status: 409 });
  });
}

const strangers = {
  "no credentials": {},
  "a wrong password": { auth: { username, password: "x" } },
  "a wrong secret of a key": { auth: { username: id, password: "x" } },
  "a wrong token": { middlewares: [bearer(`${env.SECURED_TOKEN}x`)] },
};

for (const [name, options] of Object.entries(strangers)) {
  test(`${name}: refused`, async () => {
    await assert.rejects(client(options).getLatestSchemaId("kafkajs-basic"), { status: 401, message: /Unauthorized/ });
  });
}
