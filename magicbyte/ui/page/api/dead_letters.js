/** Dead letters. The page's server counts and shows them; the REST proxy replays them with the user's rights. */
import { path } from "./encode_url.js";
import { call } from "./client.js";
import { parseJson } from "./json.js";
import { postLines } from "./post_lines.js";

/**
 * Selects letters; see `POST /ui/dead-letters` in openapi/ui.yaml.
 * @typedef {{topic: string, context?: string, by?: string, where?: string, group?: string, since?: number,
 *   until?: number, replayed?: boolean, letters?: number}} LetterRequest
 */
/** @typedef {{partition: number, offset: number}} Place */
/** @typedef {Place & {timestamp: number | null}} Mark */
/**
 * @typedef {{name: string, stage: string | null, reason: string, letters: number, repeated: number, replayed: number,
 *   first: Mark, last: Mark}} Group
 */
/**
 * @typedef {Mark & {group: string, fingerprint: string, stage: string | null, reason: string, pipeline: string | null,
 *   origin: {topic: string, partition: number, offset: number} | null, schema: string | null, masked: boolean,
 *   replays: number, replayed: boolean}} Letter
 */
/**
 * @typedef {{scanned: number, matched: number, unreadable: number, groups: Group[], groupsLeftOut: number,
 *   lettersLeftOut: number}} Counts
 */
/** @typedef {{total: number, notesProblem: string | null}} Begin */
/** @typedef {Counts & {reason: "end" | "records" | "bytes" | "time"}} End */
/** @typedef {{begin?: Begin, letter?: Letter, progress?: Counts, end?: End}} Line */
/**
 * The options of a replay; see `replayKafkaDeadLetters` in openapi/rest-proxy-v3.yaml.
 * @typedef {{to_topic?: string, schema_id?: number, part?: string, key_format?: string, value_format?: string,
 *   again?: boolean}} Repair
 */
/**
 * @typedef {{partition_id: number, offset: number, outcome: "sent" | "would_be_sent" | "stays" | "left",
 *   topic_name: string | null, reason: string | null, detail: string | null}} Outcome
 */
/** @typedef {{operation: string, resource_type: string, resource_name: string}} Right */
/** @typedef {{letters: Outcome[], missing_rights: Right[], warnings: string[]}} Replayed */

/** The most letters of a replay request: the proxy sends them in one transaction. */
export const MOST_AT_ONCE = 500;

/**
 * Streams the lines of a count. When the signal aborts, the count also stops on the server.
 * @param {LetterRequest} wanted
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Line>}
 */
export const countLetters = (wanted, signal) => postLines("/dead-letters", wanted, { signal });

/**
 * The selected letters, newest first.
 * @param {LetterRequest} wanted
 * @param {AbortSignal} [signal]
 * @returns {Promise<Letter[]>}
 */
export async function lettersOf(wanted, signal) {
  const letters = [];
  for await (const { letter } of countLetters(wanted, signal)) {
    if (letter) letters.push(letter);
    if (letters.length >= (wanted.letters ?? 0)) break;
  }
  return letters;
}

/**
 * One letter with its decoded parts.
 * @param {{topic: string, context?: string, partition: number, offset: number, whole?: boolean}} wanted
 * @param {{signal?: AbortSignal}} [options]
 */
export async function letterAt(wanted, { signal } = {}) {
  const response = await call("POST", "/dead-letter", { base: "ui", body: wanted, raw: true, signal });
  return parseJson(await response.text());
}

/**
 * The request that replays letters, or with `validate_only` reports what it would send.
 * @param {string} cluster
 * @param {string} topic
 * @param {Place[]} places
 * @param {Repair & {validate_only?: boolean}} options
 * @returns {import("./types.d.ts").Request}
 */
export function replayRequest(cluster, topic, places, options) {
  const letters = places.map(({ partition, offset }) => ({ partition_id: partition, offset }));
  const body = { letters, ...options };
  return {
    method: "POST",
    path: path`/v3/clusters/${cluster}/topics/${topic}/dead-letters:replay`,
    body,
    base: "rest",
  };
}

/**
 * Sends a request of `replayRequest`.
 * @param {import("./types.d.ts").Request} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Replayed>}
 */
export async function replay(request, signal) {
  const { data } = await call("POST", request.path, { base: "rest", body: request.body, exact: false, signal });
  return data;
}
