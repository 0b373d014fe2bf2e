/** A POST to the page's server whose response is lines of JSON. */
import { ApiError, call } from "./client.js";
import { jsonLines } from "./json_lines.js";

/**
 * Streams the lines. When the signal aborts, the server also stops its work.
 * @param {string} path
 * @param {any} body
 * @param {{signal?: AbortSignal, parse?: (text: string) => any}} [options]
 * @returns {AsyncGenerator<any>}
 * @throws {ApiError} if a line has an error
 */
export async function* postLines(path, body, { signal, parse } = {}) {
  const response = await call("POST", path, { base: "ui", body, raw: true, signal });
  for await (const line of jsonLines(response, parse)) {
    if (line.error) {
      const { status, error_code: code, message } = line.error;
      throw new ApiError({ status, code, message });
    }
    yield line;
  }
}
