/** Searches a topic's messages. The page's server runs the search over all partitions and merges them by time. */
import { ApiError } from "./client.js";
import { parseJson } from "./json.js";
import { postLines } from "./post_lines.js";

/**
 * A matching record. Key and value are base64; a cut record has only their beginnings.
 * @typedef {import("./rest.js").RecordBytes & {keySize: number | null, valueSize: number | null, cut: boolean,
 *   decoded: {key: import("./serdes.js").Decoded, value: import("./serdes.js").Decoded}}} FoundRecord
 */
/**
 * The parameters of a search; see `POST /ui/messages` in openapi/ui.yaml.
 * @typedef {{topic: string, context?: string, partitions?: number[], order?: "newest" | "oldest", since?: number,
 *   until?: number, offset?: number, cursor?: string, limit?: number, filter?: string, keyAs?: string,
 *   valueAs?: string, whole?: boolean, logical?: boolean, unions?: string}} SearchRequest
 */
/** @typedef {{partitions: Record<string, [number, number]>, total: number}} Begin by partition: first and next offset */
/** @typedef {{scanned: number, bytes: number, matched: number, cursor: string}} Progress */
/** @typedef {Progress & {reason: "end" | "limit" | "answer" | "records" | "bytes" | "time"}} End */
/** @typedef {{begin?: Begin, record?: FoundRecord, progress?: Progress, end?: End}} Line */

/**
 * Streams the lines of a search. When the signal aborts, the search also stops on the server.
 * @param {SearchRequest} wanted
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<Line>}
 */
export const search = (wanted, signal) => postLines("/messages", wanted, { signal, parse: parseJson });

/**
 * Collects all lines of a search.
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
