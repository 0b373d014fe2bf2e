/** Searches of a topic's messages, which the page's server runs: all partitions, merged by time. */
import { ApiError } from "./client.js";
import { parseJson } from "./json.js";
import { postLines } from "./post_lines.js";

/**
 * A record that fits; key and value are base64, and only their beginnings if the record is cut.
 * @typedef {import("./rest.js").RecordBytes & {keySize: number | null, valueSize: number | null, cut: boolean,
 *   decoded: {key: import("./serdes.js").Decoded, value: import("./serdes.js").Decoded}}} FoundRecord
 */
/**
 * What to look for; see `POST /ui/messages` in openapi/ui.yaml.
 * @typedef {{topic: string, context?: string, partitions?: number[], order?: "newest" | "oldest", since?: number,
 *   until?: number, offset?: number, cursor?: string, limit?: number, filter?: string, keyAs?: string,
 *   valueAs?: string, whole?: boolean, logical?: boolean, unions?: string}} SearchRequest
 */
/** @typedef {{partitions: Record<string, [number, number]>, total: number}} Begin by partition: first and next offset */
/** @typedef {{scanned: number, bytes: number, matched: number, cursor: string}} Progress */
/** @typedef {Progress & {reason: "end" | "limit" | "answer" | "records" | "bytes" | "time"}} End */
/** @typedef {{begin?: Begin, record?: FoundRecord, progress?: Progress, end?: End}} Line */

/**
 * The lines of a search as they come. It ends on the server when the signal aborts.
 * @param {SearchRequest} wanted
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Line>}
 */
export const search = (wanted, signal) => postLines("/messages", wanted, { signal, parse: parseJson });

/**
 * All that a search brings.
 * @param {SearchRequest} wanted
 * @param {AbortSignal} [signal]
 * @returns {Promise<{begin: Begin, records: FoundRecord[], end: End}>}
 */
export async function searchAll(wanted, signal) {
  const records = [];
  let begin = /** @type {Begin} */ ({ partitions: {}, total: 0 });
  let end = /** @type {End | undefined} */ (undefined);
  for await (const line of search(wanted, signal)) {
    if (line.begin) begin = line.begin;
    if (line.record) records.push(line.record);
    end = line.end;
  }
  if (!end) throw new ApiError({ status: 0, message: "The answer broke off." });
  return { begin, records, end };
}
