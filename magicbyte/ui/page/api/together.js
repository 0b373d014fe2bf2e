/**
 * Sends the GETs of a view as one request. On a slow link, each request takes a round trip, and HTTP/1.1 has six
 * connections.
 *
 * A GET waits for the other GETs of the same moment. The server streams the answers in the order in which it has them.
 * If it cannot answer a GET in the batch, for example because of a 401, the page sends that GET alone.
 */
import { jsonLines } from "./json_lines.js";

/** @typedef {{target: string, signal?: AbortSignal, resolve: (response: Response | null) => void, reject: (error: any) => void}} Waiting */
/** @typedef {{index: number, status: number, body: string}} Line */

/** The most GETs in one request. */
const MOST = 16;
/** How long a patient GET waits for others, in ms. */
const PATIENCE_MS = 1500;
/** Statuses of answers without a body. */
const BODILESS = new Set([204, 205, 304]);

export class Together {
  /** @type {Waiting[]} */
  #waiting = [];

  /** @param {(targets: string[], signal: AbortSignal) => Promise<Response>} send sends the GETs as one request */
  constructor(send) {
    this.send = send;
  }

  /**
   * The answer to a GET; null if the caller must send the GET alone.
   * @param {string} target the path at the registry, and the query
   * @param {{signal?: AbortSignal, patient?: boolean}} [options] `patient`: it may wait for later GETs
   * @returns {Promise<Response | null>}
   */
  get(target, { signal, patient = false } = {}) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      // The timeout runs after all effects of a render, so that their GETs join.
      setTimeout(() => this.#flush(), patient ? PATIENCE_MS : 0);
      this.#waiting.push({ target, signal, resolve, reject });
    });
  }

  #flush() {
    if (this.#waiting.length === 0) return;
    const all = this.#waiting.filter(({ signal }) => !signal?.aborted);
    this.#waiting = [];
    for (let start = 0; start < all.length; start += MOST) this.#ask(all.slice(start, start + MOST));
  }

  /** @param {Waiting[]} asked */
  async #ask(asked) {
    if (asked.length === 1) return asked[0].resolve(null);
    const stop = new AbortController();
    const abortIfAlone = () => asked.every(({ signal }) => signal?.aborted) && stop.abort();
    for (const { signal } of asked) signal?.addEventListener("abort", abortIfAlone, { signal: stop.signal });
    try {
      const response = await this.send(asked.map(({ target }) => target), stop.signal);
      if (!response.ok) return;
      for await (const line of jsonLines(response)) {
        const { index, status, body } = /** @type {Line} */ (line);
        if (status === 0 || status === 401) continue;
        const headers = { "Content-Type": "application/json" };
        asked[index].resolve(new Response(BODILESS.has(status) ? null : body, { status, headers }));
      }
    } catch {
      // The connection broke: the callers send each remaining GET alone, and report its error.
    } finally {
      for (const { resolve } of asked) resolve(null);
      stop.abort();
    }
  }
}
