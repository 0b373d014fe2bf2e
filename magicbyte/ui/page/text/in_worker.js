/** Lays out and compares large texts in a worker, so the page stays responsive. Small texts run in the page itself. */

import { diffLines } from "./diff.js";
import { unpacked } from "./packed_tokens.js";
import { asStored, pretty } from "./pretty.js";

/** @import { Row } from "./diff.js" */
/** @import { Layout, SchemaType } from "./pretty.js" */
/** @typedef {{text: string, type: SchemaType}} Source */
/** @typedef {{stored: Layout, laidOut: Layout}} Layouts The stored text and the pretty text. */

/** Texts up to this many characters run in the page: starting the worker would take longer. */
const SMALL = 60_000;
/** Time limit of a comparison, in ms. After it, the page shows only the list of changes. */
const TIMEOUT = 300;

/** @type {Worker | null} */
let worker = null;
let asked = 0;

/** Whether the page lays out a text without the worker. @param {string} text */
export const isSmall = (text) => text.length <= SMALL;

/**
 * Lays out a small text: stored and pretty.
 * @param {Source} source
 * @returns {Layouts}
 */
export function layOutSmall({ text, type }) {
  const stored = asStored(text, type);
  return { stored, laidOut: pretty(stored) };
}

/**
 * Lays out a text: stored and pretty.
 * @param {Source} source
 * @param {AbortSignal} [signal]
 * @returns {Promise<Layouts>}
 * @throws {Error} if the worker cannot be loaded
 */
export async function layOut(source, signal) {
  if (isSmall(source.text)) return layOutSmall(source);
  const { text, type } = source;
  const answer = await inWorker("layOut", source, signal);
  if (answer === null) throw new Error("The page's worker could not be loaded.");
  const tokens = unpacked(answer.stored);
  const stored = { text, type, tokens };
  if (answer.text === null) return { stored, laidOut: stored };
  const { starts, ends } = answer;
  return { stored, laidOut: { text: answer.text, type, tokens: { kinds: tokens.kinds, starts, ends } } };
}

/**
 * The rows of the comparison of two pretty texts; null if it takes too long, or the texts are too long for it.
 * @param {Source} before
 * @param {Source} after
 * @param {AbortSignal} [signal]
 * @returns {Promise<Row[] | null>}
 */
export async function compareTexts(before, after, signal) {
  if (before.text.length + after.text.length <= SMALL) {
    return diffLines(layOutSmall(before).laidOut, layOutSmall(after).laidOut, { timeout: TIMEOUT });
  }
  const texts = { before: before.text, after: after.text, beforeType: before.type, afterType: after.type };
  return await inWorker("compare", { ...texts, timeout: TIMEOUT }, signal);
}

/**
 * Runs a job in the worker.
 * @param {"compare" | "layOut"} job
 * @param {Record<string, unknown>} fields
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<any>} the answer; null if the worker cannot be loaded
 */
function inWorker(job, fields, signal) {
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
      resolve(event.data.answer);
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
    running.postMessage({ number, job, ...fields });
  });
}

/** The worker's address as a Trusted Type; the policy accepts no other address. */
function ownScript() {
  const address = new URL("./text_worker.js", import.meta.url).href;
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
