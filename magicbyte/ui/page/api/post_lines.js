/** A POST to the page's server that is answered with lines of JSON. */
import { ApiError, call } from "./client.js";
import { jsonLines } from "./json_lines.js";

/**
 * The lines as they come. The work ends on the server when the signal aborts.
 * @param {string} path
 * @param {any} body
 * @param {{signal?: AbortSignal, parse?: (text: string) => any}} [options]
 * @returns {AsyncGenerator<any>}
 * @throws {ApiError} a line has an error
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
