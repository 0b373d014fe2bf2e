/** The codec of the page's server, which decodes, encodes and generates messages with the serdes. */
import { fromBase64, MOST_BYTES } from "../text/bytes.js";
import { call, currentContext } from "./client.js";
import { printJson } from "./json.js";

/**
 * A decoded key or value, or the reason why it was not decoded. `preview` is the beginning of a long value's JSON, and
 * `as` the kind by which the server read it.
 * @typedef {{value?: any, schemaId?: number, guid?: string, subject?: string | null, version?: number | null,
 *   type?: string, name?: string | null, bytes?: {magic?: string, id?: string, guid?: string, index?: string},
 *   indexes?: number[], remarks?: Remark[], remarksLeftOut?: number, error?: string,
 *   reason?: string, at?: number | null, path?: string, preview?: string, size?: number, as?: string}} Decoded
 */
/**
 * A remark on a value: something in the message that the value omits, or something in the value that the message lacks.
 * @typedef {"violation" | "double-key" | "unknown-field" | "skipped-field" | "default" | "not-examined"} RemarkKind
 * @typedef {{path: string, kind: RemarkKind, text: string}} Remark
 */
/** @typedef {string | null | {data: string, header: string}} Message base64; the header is that of the schema's guid */
/** @typedef {{topic?: string, isKey?: boolean, schemaId?: number, logical?: boolean, unions?: string, subject?: string,
 *   version?: number | string, message?: string,
 *   proposal?: {schema: string, schemaType?: string, references?: any[]}}} CodecRequest `proposal`: a schema that is not registered */

const MOST_ITEMS = 100;

/**
 * Decodes messages, in as many requests as the size limit demands.
 * @param {Message[]} messages
 * @param {CodecRequest} wanted
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Decoded[]>}
 */
export async function decode(messages, wanted, { signal } = {}) {
  /** @type {Decoded[]} */
  const answers = [];
  for (const data of parts(messages)) {
    const [message] = data;
    if (data.length === 1 && sizeOf(message) > MOST_BYTES) {
      answers.push({ error: "it has more than 1 MiB, which is not decoded here", reason: "size", at: null });
      continue;
    }
    const answer = await call("POST", "/decode", { base: "ui", signal, body: { ...members(wanted), data } });
    answers.push(...answer.data.data);
  }
  return answers;
}

/** @param {CodecRequest} wanted */
const members = (wanted) => ({ ...wanted, ...(currentContext() ? { context: currentContext() } : {}) });

/** @param {Message} message */
const sizeOf = (message) => ((typeof message === "string" ? message : message?.data ?? "").length * 3) / 4;

/** @param {Message[]} messages */
function parts(messages) {
  /** @type {Message[][]} */
  const all = [];
  let left = 0;
  for (const message of messages) {
    const size = sizeOf(message);
    if (!all.length || size > left || (all.at(-1)?.length ?? 0) >= MOST_ITEMS) {
      all.push([]);
      left = MOST_BYTES;
    }
    all.at(-1)?.push(message);
    left -= size;
  }
  return all;
}

/**
 * The body of the request that encodes a JSON text. It contains the text unchanged, so numbers keep their digits and
 * the position of an error is a position in the text.
 * @param {string} text
 * @param {CodecRequest} wanted
 */
export const encodeBody = (text, wanted) => `${printJson({ ...members(wanted) }).slice(0, -1)},"data":[${text}]}`;

/**
 * Encodes one JSON text.
 * @param {string} text must be JSON
 * @param {CodecRequest} wanted
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Decoded & {data?: string}>} with `data`, the message in base64
 */
export async function encode(text, wanted, { signal } = {}) {
  JSON.parse(text);
  const { data } = await call("POST", "/encode", { base: "ui", signal, body: encodeBody(text, wanted) });
  return data.data[0];
}

/**
 * An example message of a schema.
 * @param {CodecRequest} wanted
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Decoded & {unions?: string}>}
 */
export async function example(wanted, { signal } = {}) {
  return (await call("POST", "/example", { base: "ui", signal, body: members(wanted) })).data;
}

/** @param {string | null} base64 */
export const bytesOf = (base64) => base64 === null ? new Uint8Array() : fromBase64(base64);
