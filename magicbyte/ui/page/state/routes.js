/**
 * The pages by their path, and the URL as the page's state.
 *
 * The page's URL is the API's URL behind `/ui`: a proxy may add any prefix before `/ui`.
 */
import { printQuery } from "../api/encode_url.js";
import { ROWS } from "./route_table.js";
import { signal } from "../vendor/ui.js";

/** @typedef {import("./types.d.ts").RouteRow} RouteRow */
/** @typedef {import("../api/types.d.ts").Query} Query */
/** @typedef {import("./types.d.ts").Location} Location */

/** The path of the page's folder, with a slash at its end: `/ui/` or `/sr/ui/`. */
export const ROOT = new URL("..", import.meta.url).pathname;

/** @type {import("../vendor/ui.js").Signal<Location>} */
export const route = signal(readUrl(globalThis.location?.href ?? "http://localhost/ui/", ROOT));

/** How the current page was reached: `load`, `push`, `replace` or `back`. */
export const arrival = signal("load");

/**
 * Reads a page's URL.
 * @param {string} address
 * @param {string} [root]
 * @returns {Location}
 */
export function readUrl(address, root = ROOT) {
  const url = new URL(address);
  let path = url.pathname.startsWith(root) ? url.pathname.slice(root.length - 1) : "/";
  const inContext = path.match(/^\/contexts\/([^/]+)(\/.*)?$/);
  if (inContext) path = inContext[2] ?? "/";
  const { row, params } = match(path);
  const query = Object.fromEntries(url.searchParams);
  return { path, params, query, hash: url.hash.slice(1), context: inContext ? decode(inContext[1]) : "", row };
}

/**
 * Finds the row of a path, and the decoded values of its `{names}`.
 * @param {string} path
 * @returns {{row: RouteRow | null, params: Record<string, string>}}
 */
function match(path) {
  const segments = path.replace(/\/$/, "").split("/");
  for (const row of ROWS) {
    const names = row.path.split("/");
    if (names.length !== segments.length) continue;
    if (!names.every((name, i) => name.startsWith("{") ? segments[i] !== "" : name === segments[i])) continue;
    /** @type {Record<string, string>} */
    const params = {};
    names.forEach((name, i) => {
      if (name.startsWith("{")) params[name.slice(1, -1)] = decode(segments[i]);
    });
    return { row, params };
  }
  return { row: null, params: {} };
}

/** @param {string} segment */
function decode(segment) {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // a stray % in a typed address
  }
}

/**
 * The address of a page, including the proxy's prefix and the context.
 * @param {string} path encoded, such as path`/subjects/${subject}`
 * @param {Query} [query]
 * @param {{hash?: string, context?: string}} [options] another context than the current one
 */
export function href(path, query, { hash = "", context = route.peek().context } = {}) {
  const inContext = context ? "/contexts/" + encodeURIComponent(context) : "";
  return ROOT.slice(0, -1) + inContext + path + printQuery(query) + (hash ? "#" + hash : "");
}

/**
 * Goes to a page.
 * @param {string} path
 * @param {Query} [query]
 * @param {{replace?: boolean, hash?: string, context?: string}} [options]
 */
export function go(path, query, { replace = false, ...rest } = {}) {
  goTo(href(path, query, rest), { replace });
}

/**
 * Changes the current page's query; null removes a parameter.
 * @param {Query} patch
 * @param {{replace?: boolean}} [options]
 */
export function setQuery(patch, { replace = true } = {}) {
  const { path, query, hash } = route.peek();
  goTo(href(path, { ...query, ...patch }, { hash }), { replace, quiet: true });
}

/** The focus and scroll positions of visited pages, by the key of the history entry. */
const places = new Map();

/**
 * Goes to an address of this page.
 * @param {string} address
 * @param {{replace?: boolean, quiet?: boolean}} [options] quiet: the focus stays
 */
export function goTo(address, { replace = false, quiet = false } = {}) {
  if (new URL(address, location.href).href === location.href) replace = true;
  rememberPlace();
  const state = { key: replace ? history.state?.key ?? newKey() : newKey() };
  history[replace ? "replaceState" : "pushState"](state, "", address);
  arrival.value = quiet ? "replace" : "push";
  route.value = readUrl(location.href);
}

let lastKey = 0;
const newKey = () => `${Date.now().toString(36)}-${++lastKey}`;

function rememberPlace() {
  const focused = document.activeElement?.closest("[data-key], [id], a[href]");
  places.set(history.state?.key ?? "first", { y: scrollY, at: focused ? selectorOf(focused) : "" });
}

/** @param {Element} element */
function selectorOf(element) {
  for (const name of ["data-key", "id", "href"]) {
    const value = element.getAttribute(name);
    if (value) return `[${name}="${CSS.escape(value)}"]`;
  }
  return "";
}

/** The focus and scroll positions from the last visit of the current history entry; null on the first visit. */
export function placeOfEntry() {
  return places.get(history.state?.key ?? "first") ?? null;
}

/** Follows links and the Back button; called once by app.js. */
export function listen() {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    arrival.value = "back";
    route.value = readUrl(location.href);
  });
  document.addEventListener("click", (event) => {
    const link = /** @type {Element} */ (event.target).closest?.("a[href]");
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!(link instanceof HTMLAnchorElement) || !plain || event.defaultPrevented) return;
    if (link.target || link.download || link.origin !== location.origin || !link.pathname.startsWith(ROOT)) return;
    if (link.getAttribute("href")?.startsWith("#")) return;
    event.preventDefault();
    goTo(link.href);
  });
}
