/** Requests to the registry, the REST proxy and the page's helpers: one function, one kind of error. */
import { ROOT } from "../state/routes.js";
import { comebacks, config, context, forgetRefusals, me, online, refuse } from "../state/signals.js";
import { signal } from "../vendor/ui.js";
import { actionOf } from "./actions.js";
import { isMissingRoute } from "./features.js";
import { parseJson, printJson } from "./json.js";
import { changesPaths, PATH_CHANGED, PATH_CHANGED_MESSAGE } from "./slashes.js";
import { printQuery } from "../state/routes.js";

/** @typedef {import("../state/types.d.ts").CallOptions} CallOptions */
/** @typedef {import("../state/types.d.ts").Answer} Answer */

/** What a server refused, or a request that got no answer (status 0). */
export class ApiError extends Error {
  /** @param {{status: number, code?: number, message: string, requestId?: string, data?: any}} fields */
  constructor({ status, code = 0, message, requestId = "", data = null }) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.data = data;
  }
}

/** The bearer token: in this tab's memory only. */
export const token = signal("");

/**
 * Asks a person for a bearer token; set by the sign-in dialog. Resolves an empty text if nobody signs in.
 * @type {{ask: (message: string) => Promise<string>}}
 */
export const signIn = { ask: () => Promise.resolve("") };

/** @type {Promise<string> | null} */
let asking = null;

const SCHEMA_REGISTRY_JSON = "application/vnd.schemaregistry.v1+json";
const GONE = new Set([502, 503, 504]);
/** Codes of writes that reached no leader: the node itself answers, and reads go on. */
const LEADERLESS = new Set([50003, 50004]);

/**
 * The full path of a request behind the page's origin.
 * @param {string} path
 * @param {{base?: "registry" | "rest" | "ui", query?: import("../state/types.d.ts").Query, context?: boolean}} options
 */
export function address(path, { base = "registry", query, context: inContext = true }) {
  const folder = { registry: config.peek().registryBase, rest: "rest/", ui: "" }[base];
  const start = new URL(folder, new URL(ROOT, "http://page")).pathname.slice(0, -1);
  const name = base === "registry" && inContext ? context.peek() : "";
  return start + (name ? "/contexts/" + encodeURIComponent(name) : "") + path + printQuery(query);
}

/**
 * Sends a request and reads its answer.
 * @param {string} method
 * @param {string} path encoded, such as path`/subjects/${subject}`
 * @param {CallOptions} [options]
 * @returns {Promise<any>} an `Answer`, or the `Response` with `raw`
 * @throws {ApiError} if the answer's status is 400 or more, or there is none
 */
export async function call(method, path, options = {}) {
  let sent = token.peek();
  let response = await send(method, path, options);
  while (asksForToken(response)) {
    // Another request may have got the token while this one was on its way.
    if (token.peek() === sent) {
      asking ??= signIn.ask(sent ? "The token was refused." : "").finally(() => asking = null);
      token.value = await asking;
      if (!token.value) break;
      forgetRefusals();
    }
    sent = token.peek();
    response = await send(method, path, options);
  }
  return finish(method, path, options, response);
}

/** @param {Response} response */
const asksForToken = (response) =>
  response.status === 401 && (response.headers.get("www-authenticate") ?? "").startsWith("Bearer");

/**
 * @param {string} method
 * @param {string} path
 * @param {CallOptions} options
 * @returns {Promise<Response>}
 */
async function send(method, path, options) {
  const { body, headers = {}, signal: aborted } = options;
  const sent = new Headers({ Accept: "application/json", ...headers });
  if (token.peek()) sent.set("Authorization", "Bearer " + token.peek());
  const plain = body === undefined || typeof body === "string" || body instanceof Blob;
  if (body !== undefined && !sent.has("Content-Type")) {
    sent.set("Content-Type", (options.base ?? "registry") === "registry" ? SCHEMA_REGISTRY_JSON : "application/json");
  }
  const payload = plain ? /** @type {any} */ (body) : printJson(body);
  try {
    return await fetch(address(path, options), { method, headers: sent, body: payload, signal: aborted });
  } catch (error) {
    if (aborted?.aborted) throw error;
    const server = options.base === "rest" ? "The REST proxy" : "The registry";
    if (options.base !== "rest") lost({ message: `${server} cannot be reached.` });
    throw new ApiError({ status: 0, message: `${server} cannot be reached.` });
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {CallOptions} options
 * @param {Response} response
 */
async function finish(method, path, options, response) {
  if (response.ok && !online.peek().up && !online.peek().leaderless && options.base !== "rest") back();
  if (options.raw && response.ok) return response;
  const text = await response.text();
  const type = response.headers.get("content-type") ?? "";
  const data = text && type.includes("json") ? readJson(text, options.exact !== false) : null;
  if (response.ok) return { status: response.status, data, headers: response.headers, text };
  const error = new ApiError({
    status: response.status,
    code: Number(data?.error_code ?? 0),
    message: data?.message ?? (text.slice(0, 500) || response.statusText || `Status ${response.status}`),
    requestId: response.headers.get("x-request-id") ?? "",
    data,
  });
  if (isMissingRoute(error) && path.includes("%2F") && (options.base ?? "registry") === "registry") {
    const changed = await changesPaths((probe) => send("GET", probe, { context: false }));
    if (changed) throw new ApiError({ status: PATH_CHANGED, message: PATH_CHANGED_MESSAGE });
  }
  if (GONE.has(error.status) && method === "GET" && options.base !== "rest") lost(error);
  if (LEADERLESS.has(error.code) && options.base !== "rest") lost({ ...error, message: NO_LEADER, leaderless: true });
  if (error.status === 403) remember(method, path, error.message);
  throw error;
}

/**
 * @param {string} text
 * @param {boolean} exact
 */
function readJson(text, exact) {
  try {
    return exact ? parseJson(text) : JSON.parse(text);
  } catch {
    return null; // a proxy's page with the wrong media type
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {string} message
 */
function remember(method, path, message) {
  const { action, subject } = actionOf(method, path);
  if (action) refuse(action, subject, message);
}

const LONGEST_WAIT = 30;
let timer = 0;
let wait = 0;

const NO_LEADER = "The registry has no leader now: it answers questions, and changes wait for the next leader.";

/**
 * Shows the strip, and asks again after 1, 2, 4 .. 30 s.
 * @param {{message: string, requestId?: string, leaderless?: boolean}} failure
 */
function lost({ message, requestId = "", leaderless = false }) {
  if (timer) return;
  wait = Math.min(LONGEST_WAIT, wait ? wait * 2 : 1);
  const since = online.peek().since ?? Date.now();
  online.value = { up: false, leaderless, message, requestId, since, retryAt: Date.now() + wait * 1000 };
  timer = setTimeout(askAgain, wait * 1000);
}

/** Asks whether the registry is back, now. */
export async function askAgain() {
  clearTimeout(timer);
  timer = 0;
  const { leaderless, message = "The registry cannot be reached." } = online.peek();
  const path = leaderless ? "/health/ready" : "/";
  try {
    const response = await fetch(address(path, { context: false }), { headers: { Accept: "application/json" } });
    if (!GONE.has(response.status) && !(leaderless && await namesOldLeader(response))) return back();
    lost({ message, leaderless });
  } catch {
    lost({ message: "The registry cannot be reached." });
  }
}

/** How long the other nodes may take a dead leader for the leader, in ms. */
const OLD_LEADER_MS = 30_000;

/**
 * Whether a node still names the leader that a write did not reach: the others learn late that it died.
 * @param {Response} response of `/health/ready`
 */
async function namesOldLeader(response) {
  const { leader, leaderUrl } = await response.json();
  const late = Date.now() - (online.peek().since ?? 0) > OLD_LEADER_MS;
  return !late && !leader && leaderUrl !== undefined && leaderUrl === me.peek()?.leaderUrl;
}

function back() {
  clearTimeout(timer);
  timer = 0;
  wait = 0;
  if (online.peek().up) return;
  online.value = { up: true };
  comebacks.value++;
}
