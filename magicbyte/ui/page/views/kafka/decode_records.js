/** Decodes the keys and values of records: one request for the keys, one for the values. */
import { decode } from "../../api/serdes.js";
import { PARTS } from "./topic_subjects.js";

/** @typedef {import("../../api/rest.js").RecordBytes} RecordBytes */
/** @typedef {import("../../api/serdes.js").Decoded} Decoded */
/** @typedef {RecordBytes & {decoded?: {key?: Decoded, value?: Decoded}}} DecodedRecord */

/**
 * @param {string} topic
 * @param {RecordBytes[]} records
 * @param {{signal?: AbortSignal, stored?: boolean}} [options] `stored`: return Avro's values without logical types and
 *   with tagged unions
 * @returns {Promise<DecodedRecord[]>}
 */
export async function decodeRecords(topic, records, { signal, stored = false } = {}) {
  const form = stored ? { logical: false, unions: "tagged" } : {};
  const [keys, values] = await Promise.all(
    PARTS.map((part) => partsOf(records, { topic, isKey: part === "key", ...form }, signal)),
  );
  return records.map((record, i) => ({ ...record, decoded: { key: keys[i], value: values[i] } }));
}

/**
 * @param {RecordBytes[]} records
 * @param {import("../../api/serdes.js").CodecRequest} wanted
 * @param {AbortSignal | undefined} signal
 */
async function partsOf(records, wanted, signal) {
  const part = wanted.isKey ? "key" : "value";
  const messages = records.map((record) => messageOf(record, part));
  if (messages.every((message) => message === null)) return messages.map(() => ({ value: null }));
  return await decode(messages, wanted, { signal });
}

/**
 * A key or value in the form that `decode` expects, with the header of its schema's guid, if there is one.
 * @param {RecordBytes} record
 * @param {"key" | "value"} part
 */
export function messageOf(record, part) {
  const data = record[part];
  const header = headerOf(record, part);
  return data !== null && header !== null ? { data, header } : data;
}

/**
 * The header with the guid of the schema of a key or value, in base64; null if there is none.
 * @param {RecordBytes} record
 * @param {"key" | "value"} part
 */
export function headerOf(record, part) {
  return record.headers.findLast(({ name, value }) => name === `__${part}_schema_id` && value !== null)?.value ?? null;
}
