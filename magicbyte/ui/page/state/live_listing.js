/** The listing of subjects: the first page that needs it reads it; the change feed then updates it. */
import { call } from "../api/client.js";
import { hasOverview, lacks } from "../api/features.js";
import { isMissingRoute } from "../api/transport.js";
import * as registry from "../api/registry.js";
import { listingOfNames, listingRow, patched, withRow } from "./listing_columns.js";
import { afterPaint } from "./after_paint.js";
import { changes, comebacks, me, overview } from "./signals.js";
import { batch, effect, signal, untracked } from "../vendor/ui.js";

/** The error of the last read of the listing; null if it succeeded. @type {import("../vendor/ui.js").Signal<any>} */
export const listingError = signal(null);

/**
 * The first rows and the counts of the default context, shown until the whole listing has arrived; otherwise null.
 * @type {import("../vendor/ui.js").Signal<import("../api/types.d.ts").ListingHead | null>}
 */
export const listingHead = signal(null);

/** @type {Promise<void> | null} */
let reading = null;

/** The offset after which the feed sends changes. */
let feedStart = -2;

/**
 * How many changes with sealed offsets have arrived. Users without the right to see log offsets get them as opaque
 * texts without an order, so the page compares the order of arrival instead.
 */
let arrived = 0;

/**
 * Gives a change or a listing a comparable `offset`; a sealed offset moves to `cursor`.
 * @template {Record<string, any>} T
 * @param {T} value
 * @param {number} order
 * @returns {T}
 */
const ordered = (value, order) =>
  typeof value.offset === "string" ? { ...value, cursor: value.offset, offset: order } : value;

/**
 * Notes the offset from which the change feed starts, and reads the listing again if the listing is older.
 * @param {number} offset
 */
export function feedStartsAfter(offset) {
  feedStart = offset;
  if (overview.peek() && Number(overview.peek()?.offset) < offset && hasOverview()) readListing();
}

/** Up to this many stale rows are read one by one; more stale rows reload the whole listing. */
const MOST_ROWS = 8;

/** Reads the listing unless it is loaded or loading. */
export function needListing() {
  if (overview.peek() || reading) return reading;
  return readListing();
}

/** Resolves when the first rows have arrived or their request has failed. */
export function firstRows() {
  needListing();
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (overview.value || listingHead.value || listingError.value) queueMicrotask(() => (stop(), resolve(undefined)));
    });
  });
}

/** Reads the listing again. */
export function readListing() {
  const before = arrived;
  reading ??= read().then((answer) => {
    const listing = ordered(answer, before);
    batch(() => {
      overview.value = listing;
      listingHead.value = null;
      listingError.value = null;
    });
    // Without a new read, the changes between the listing and the start of the feed would be missing.
    if (listing.offset < feedStart && hasOverview()) setTimeout(readListing, 1000);
  }, (error) => {
    batch(() => {
      listingError.value = error;
      listingHead.value = null;
    });
  }).finally(() => reading = null);
  return reading;
}

/** @returns {Promise<import("../api/types.d.ts").Overview>} */
async function read() {
  if (hasOverview()) {
    try {
      return await readLines();
    } catch (error) {
      if (!isMissingRoute(error)) throw error;
      lacks("overview");
    }
  }
  const live = await registry.subjects();
  const all = await registry.subjects({ deleted: true });
  return listingOfNames([...all].sort(), live);
}

/** Reads the first rows, waits for the browser to paint them, and reads the listing. */
async function readLines() {
  for await (const line of registry.overviewLines()) {
    if (!("counts" in line)) return line;
    if (overview.peek()) continue;
    listingHead.value = line;
    await afterPaint();
  }
  throw new Error("The listing ended before its last line.");
}

/** Keeps the listing and the node's state up to date; called once by app.js. */
export function followListing() {
  // Send the view's own requests first; this request may join their batch.
  readNode({ patient: true });
  effect(() => {
    if (comebacks.value === 0) return;
    untracked(() => {
      readNode();
      if (overview.peek() || listingError.peek()) readListing();
    });
  });
}

/** @param {{patient?: boolean}} [options] */
async function readNode(options) {
  try {
    const { data } = await call("GET", "/health/ready", { context: false, ...options });
    me.value = data?.leader === undefined ? {} : data;
  } catch (error) {
    // Other registries lack this path: a 404 still shows that the registry is up.
    if (/** @type {any} */ (error).status === 404) me.value = {};
  }
}

/** @type {Set<string>} */
const stale = new Set();
let whole = false;
let timer = 0;

/**
 * Applies changes of the feed, which come oldest first.
 * @param {Record<string, any>[]} news
 */
export function takeChanges(news) {
  if (news.length === 0) return;
  const seen = changes.peek()[0]?.offset ?? -1;
  arrived = Math.max(arrived, seen);
  const cursors = new Set(changes.peek().map((change) => change.cursor));
  const fresh = news.filter((change) => !cursors.has(change.offset)).map((change) =>
    typeof change.offset === "string" ? ordered(change, ++arrived) : change
  );
  const newer = fresh.filter((change) => change.offset > seen);
  changes.value = [...newer.reverse(), ...changes.peek()].slice(0, 500);
  if (fresh.length === 0) return;
  const last = Math.max(...fresh.map((change) => change.offset));
  const node = me.peek();
  // If the node hides its offset, do not derive it from the last visible change: the node's may be higher.
  if (node && node.offset !== undefined && last > node.offset) me.value = { ...node, offset: last };
  const listing = overview.peek();
  if (!listing) return;
  const since = fresh.filter((change) => change.offset > listing.offset);
  const patch = patched(listing, since);
  overview.value = patch.listing;
  patch.stale.forEach((subject) => stale.add(subject));
  whole ||= patch.whole;
  timer ||= setTimeout(refresh, 100);
}

/** Reads the stale rows, or the whole listing, from the registry. */
async function refresh() {
  const subjects = [...stale];
  const all = whole || subjects.length > MOST_ROWS || !hasOverview();
  stale.clear();
  whole = false;
  timer = 0;
  if (subjects.length === 0 && !all) return;
  if (all) return readListing();
  await Promise.all(subjects.map(async (subject) => {
    try {
      const part = await registry.overview({ prefix: subject, limit: 1 });
      const listing = overview.peek();
      if (listing) overview.value = withRow(listing, subject, listingRow(part, part.subject.indexOf(subject)));
    } catch { /* the next change or the next visit reads it */ }
  }));
}
