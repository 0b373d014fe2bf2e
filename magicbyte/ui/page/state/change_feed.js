/**
 * The change feed: one tab of the browser reads it and forwards the changes to the other tabs.
 *
 * A stream takes one of the six connections that a browser opens to a server. Tabs therefore elect a reader with a Web
 * Lock and share the changes on a BroadcastChannel. Without these APIs (plain http to another host), each visible tab
 * reads the feed itself.
 */
import { feedStartsAfter, takeChanges } from "./live_listing.js";
import { ROOT } from "./routes.js";
import { changes, me, online, overview } from "./signals.js";
import { effect, signal } from "../vendor/ui.js";
import { call } from "../api/client.js";
import { lacks } from "../api/features.js";

/** Whether this tab receives changes. */
export const following = signal(false);

const HIDDEN_MS = 60_000;
const NAME = "magicbyte-events " + ROOT;

/** @type {BroadcastChannel | null} */
let channel = null;
/** @type {AbortController | null} */
let running = null;
let hiddenTimer = 0;

/** Follows changes while the page is visible; called once by app.js. */
export function startFeed() {
  channel = globalThis.BroadcastChannel ? new BroadcastChannel(NAME) : null;
  if (channel) {
    channel.onmessage = (event) => {
      following.value = true;
      takeChanges(event.data);
    };
  }
  document.addEventListener("visibilitychange", () => document.hidden ? leaveLater() : enter());
  addEventListener("pagehide", () => running?.abort());
  addEventListener("pageshow", () => document.hidden || enter());
  enter();
}

function leaveLater() {
  clearTimeout(hiddenTimer);
  hiddenTimer = setTimeout(() => {
    running?.abort();
    running = null;
  }, HIDDEN_MS);
}

function enter() {
  clearTimeout(hiddenTimer);
  if (running) return;
  const controller = running = new AbortController();
  const { signal } = controller;
  const follow = () => followWhile(signal);
  const done = navigator.locks ? navigator.locks.request(NAME, { signal }, follow) : follow();
  done.catch(() => {}).finally(() => {
    if (running === controller) running = null;
  });
}

/**
 * Reads the feed until `signal` aborts; reconnects after a lost connection.
 * @param {AbortSignal} signal
 */
async function followWhile(signal) {
  let wait = 1000;
  while (!signal.aborted) {
    await until(() => online.value.up && (me.value !== null || overview.value !== null), signal);
    try {
      await followOnce(signal, () => wait = 1000);
    } catch (error) {
      const status = /** @type {any} */ (error).status;
      if (status === 404 || status === 405 || status === 403 || status === 401) {
        if (status === 404 || status === 405) lacks("events");
        following.value = false;
        return;
      }
    }
    following.value = false;
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(30_000, wait * 2);
  }
}

/**
 * Resolves when `holds` returns true, or when `signal` aborts.
 * @param {() => boolean} holds reads signals
 * @param {AbortSignal} signal
 */
function until(holds, signal) {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (holds() || signal.aborted) queueMicrotask(() => (stop(), resolve(undefined)));
    });
    signal.addEventListener("abort", () => resolve(undefined));
  });
}

/**
 * Reads one connection until it ends.
 * @param {AbortSignal} signal
 * @param {() => void} onStart
 */
async function followOnce(signal, onStart) {
  // Without a known position, the feed starts with the next change.
  const sealed = changes.peek()[0]?.cursor ?? overview.peek()?.cursor;
  const offsets = [overview.peek()?.offset, changes.peek()[0]?.offset, me.peek()?.offset];
  const known = sealed === undefined ? offsets.filter((offset) => offset !== undefined) : [];
  const after = sealed ?? Math.max(...known);
  const isKnown = sealed !== undefined || known.length > 0;
  /** @type {Response} */
  const response = await call("GET", "/events", {
    raw: true,
    context: false,
    signal,
    headers: { Accept: "text/event-stream", ...(isKnown ? { "Last-Event-ID": String(after) } : {}) },
  });
  if (known.length > 0) feedStartsAfter(Number(after));
  onStart();
  following.value = true;
  const reader = textOf(response).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const { events, rest } = readEvents(text + value);
    text = rest;
    if (events.length === 0) continue;
    takeChanges(events);
    channel?.postMessage(events);
  }
}

/** A response's body as a stream of texts. @param {Response} response @returns {ReadableStream<string>} */
const textOf = (response) => /** @type {any} */ (response.body).pipeThrough(new TextDecoderStream());

/**
 * Reads complete server-sent events from a text.
 * @param {string} text
 * @returns {{events: Record<string, any>[], rest: string}} `rest`: the beginning of an event that is not complete
 */
export function readEvents(text) {
  const blocks = text.split("\n\n");
  const rest = blocks.pop() ?? "";
  const events = [];
  for (const block of blocks) {
    const lines = block.split("\n");
    const data = lines.filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart()).join("\n");
    if (!data) continue;
    const type = lines.find((line) => line.startsWith("event:"))?.slice(6).trim();
    const id = lines.find((line) => line.startsWith("id:"))?.slice(3).trim();
    events.push({ type, offset: Number(id), ...JSON.parse(data) });
  }
  return { events, rest };
}

/**
 * Reads the changes after an offset once, from the feed's history.
 * @param {number} after
 * @param {number} most
 * @param {AbortSignal} [aborted]
 */
export async function recentChanges(after, most, aborted) {
  const stop = new AbortController();
  aborted?.addEventListener("abort", () => stop.abort());
  /** @type {Response} */
  const response = await call("GET", "/events", {
    raw: true,
    context: false,
    signal: stop.signal,
    headers: { Accept: "text/event-stream", "Last-Event-ID": String(after) },
  });
  const reader = textOf(response).getReader();
  const end = me.peek()?.offset ?? 0;
  /** @type {Record<string, any>[]} */
  let events = [];
  let text = "";
  try {
    while (end >= 0 && (events.at(-1)?.offset ?? -1) < end) {
      const { value, done } = await quietAfter(reader.read(), 800);
      if (done) break;
      const read = readEvents(text + value);
      text = read.rest;
      events = [...events, ...read.events];
    }
  } finally {
    stop.abort();
  }
  return events.filter((event) => event.type !== "reset").slice(-most).reverse();
}

/**
 * A read that ends after `ms` without data: the last log entries may not be changes, so the feed sends nothing for
 * them.
 * @param {Promise<ReadableStreamReadResult<string>>} reading
 * @param {number} ms
 * @returns {Promise<{value?: string, done: boolean}>}
 */
function quietAfter(reading, ms) {
  let timer = 0;
  const quiet = new Promise((resolve) => timer = setTimeout(() => resolve({ done: true }), ms));
  return /** @type {any} */ (Promise.race([reading, quiet]).finally(() => clearTimeout(timer)));
}
