/** State that several pages share: settings, the node, the listing of subjects, and what the user may do. */
import { isReadOnly, refusesVersions } from "./modes.js";
import { lackOf } from "./rights.js";
import { route } from "./routes.js";
import { READ_ONLY_PAGE } from "../text/phrases.js";
import { computed, signal } from "../vendor/ui.js";

/** @typedef {import("./types.d.ts").Config} Config */
/** @typedef {import("../api/types.d.ts").Overview} Overview */

/** The page's configuration from index.html; tests without a page use these values. */
export const config = signal(
  /** @type {Config} */ ({
    name: "",
    color: "",
    readOnly: false,
    restAvailable: false,
    pipelinesConfigured: false,
    accessRules: false,
    registryBase: "../",
    version: "",
    features: [],
    ...readConfig(),
  }),
);

function readConfig() {
  const meta = globalThis.document?.querySelector('meta[name="magicbyte-config"]');
  return JSON.parse(meta?.getAttribute("content") ?? "{}");
}

/** The chosen context, such as `.eu`; empty for the default one. */
export const context = computed(() => route.value.context);

/**
 * Whether the registry can be reached. `retryAt` is the time of the next try in ms, `since` the time of the first
 * failure.
 * @type {import("../vendor/ui.js").Signal<{up: boolean, leaderless?: boolean, message?: string, requestId?: string, since?: number, retryAt?: number}>}
 */
export const online = signal({ up: true });

/** Incremented when the registry is back, so that failed requests are sent again. */
export const comebacks = signal(0);

/**
 * The node that answers: `/health/ready`. The change feed updates `offset`.
 * @type {import("../vendor/ui.js").Signal<{leader?: boolean, offset?: number, lag?: number, leaderUrl?: string, problem?: string} | null>}
 */
export const me = signal(null);

/**
 * The columns of the listing, patched by the change feed; null until it is read.
 * @type {import("../vendor/ui.js").Signal<Overview | null>}
 */
export const overview = signal(null);

/**
 * The newest changes, newest first, from the change feed.
 * @type {import("../vendor/ui.js").Signal<Record<string, any>[]>}
 */
export const changes = signal([]);

/**
 * Refusals by `action subject`: the message of the last 403 or 42205.
 * @type {import("../vendor/ui.js").Signal<Record<string, string>>}
 */
const refusals = signal({});

/** Actions that write; the keys of `may`. */
const WRITES = new Set([
  "register",
  "force",
  "delete",
  "undelete",
  "purge",
  "config",
  "mode",
  "tags",
  "import",
  "produce",
  "topics",
  "replay",
]);

/** Actions that every mode allows. */
const DESPITE_MODE = new Set(["mode", "config", "produce", "topics", "replay"]);

/**
 * Whether the user may do an action. If not, views disable its control and show the reason.
 * @param {string} action register, force, delete, undelete, purge, config, mode, tags, import, produce, topics or replay
 * @param {string} [subject]
 * @returns {{allowed: boolean, reason: string}}
 */
export function may(action, subject = "") {
  const refused = (/** @type {string} */ reason) => ({ allowed: false, reason });
  if (!WRITES.has(action)) return { allowed: true, reason: "" };
  if (config.value.readOnly) return refused(READ_ONLY_PAGE);
  const lack = config.value.accessRules ? lackOf(action, subject && qualified(subject), context.value) : "";
  if (lack) return refused(lack);
  const refusal = refusals.value[`${action} ${subject}`];
  if (refusal) return refused(refusal);
  const mode = modeOf(subject);
  if (isReadOnly(mode) && !DESPITE_MODE.has(action)) {
    return refused(`Mode ${mode} refuses writes${subject ? ` to ${subject}` : ""}. Settings can change it.`);
  }
  if (action === "register" && refusesVersions(mode)) {
    return refused(`Mode ${mode} takes only versions with the ids of another registry. Settings can change it.`);
  }
  return { allowed: true, reason: "" };
}

/**
 * The mode of a subject as the listing has it; empty if unknown.
 * @param {string} subject
 */
function modeOf(subject) {
  const listing = overview.value;
  if (!listing?.mode) return "";
  const at = listing.subject.indexOf(qualified(subject));
  return (at >= 0 ? listing.mode[at] : null) ?? "";
}

/**
 * A subject's name with its context, as the listing has it: `:.eu:orders-value`.
 * @param {string} subject
 */
export function qualified(subject) {
  return context.value && !subject.startsWith(":") ? `:${context.value}:${subject}` : subject;
}

/**
 * Remembers that the registry refused an action; `may` then returns the reason.
 * @param {string} action
 * @param {string} subject
 * @param {string} reason
 */
export function refuse(action, subject, reason) {
  refusals.value = { ...refusals.value, [`${action} ${subject}`]: reason };
}

/** Forgets all refusals, after signing in or a change of mode. */
export function forgetRefusals() {
  refusals.value = {};
}
