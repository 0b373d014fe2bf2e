/** Runs the comparison of large texts in a worker, so the page stays responsive; small texts are compared at once. */

import { diffLines } from "./diff.js";
import { asStored, pretty } from "./pretty.js";

/** @import { Row } from "./diff.js" */
/** @import { Layout, SchemaType } from "./pretty.js" */
/** @typedef {{text: string, type: SchemaType}} Source */

/** Texts up to this many characters are compared in the page: the worker would take longer to start. */
const SMALL = 60_000;
/** How long a comparison may take, in ms; then the page shows the list of changes alone. */
const TIMEOUT = 300;

/** @type {Worker | null} */
let worker = null;
let asked = 0;

/**
 * The rows of the comparison of two pretty texts; null if it takes too long.
 * @param {Source} before
 * @param {Source} after
 * @param {AbortSignal} [signal]
 * @returns {Promise<Row[] | null>}
 */
export async function compareTexts(before, after, signal) {
  if (before.text.length + after.text.length <= SMALL) {
    return diffLines(
      pretty(asStored(before.text, before.type)),
      pretty(asStored(after.text, after.type)),
      { timeout: TIMEOUT },
    );
  }
  return await inWorker(before, after, signal);
}

/**
 * @param {Source} before
 * @param {Source} after
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<Row[] | null>}
 */
function inWorker(before, after, signal) {
  asked += 1;
  const number = asked;
  const running = worker ??= new Worker(ownScript(), { type: "module" });
  return new Promise((resolve, reject) => {
    const listening = new AbortController();
    const end = () => listening.abort();
    const options = { signal: listening.signal };
    running.addEventListener("message", (event) => {
      if (event.data.number !== number) return;
      end();
      resolve(event.data.rows);
    }, options);
    running.addEventListener("error", () => {
      end();
      worker = null;
      resolve(null);
    }, options);
    signal?.addEventListener("abort", () => {
      end();
      reject(signal.reason);
    }, options);
    running.postMessage({
      number,
      before: before.text,
      after: after.text,
      beforeType: before.type,
      afterType: after.type,
      timeout: TIMEOUT,
    });
  });
}

/** The worker's address as a Trusted Type; the policy accepts no other address. */
function ownScript() {
  const address = new URL("./diff_worker.js", import.meta.url).href;
  const types = /** @type {any} */ (globalThis).trustedTypes;
  if (!types) return address;
  const policy = types.createPolicy("magicbyte-worker", {
    createScriptURL: (/** @type {string} */ url) => {
      if (url !== address) throw new TypeError(`not a worker of this page: ${url}`);
      return url;
    },
  });
  return policy.createScriptURL(address);
}
