/**
 * The page's transport: addresses and sign-in. The state connects itself to the client; the client imports nothing from
 * the state.
 */
import { signal } from "../vendor/ui.js";
import { printQuery } from "./encode_url.js";
import { Transport } from "./transport.js";

export { ApiError } from "./transport.js";

/** The scheme by which the user signed in with the page's form: `Bearer`, `Basic`, or empty. */
export const scheme = signal("");

/**
 * Asks for credentials by one of the schemes. Resolves the value of `Authorization`, or an empty text if the user
 * cancels.
 * @typedef {(schemes: string[], message: string) => Promise<string>} AskCredentials
 */

/** @type {(ask: AskCredentials) => void} */
let dialogIsThere;
/**
 * The page sends requests before its first render. A 401 that arrives before the dialog exists waits for the dialog.
 */
const dialog = /** @type {Promise<AskCredentials>} */ (new Promise((resolve) => dialogIsThere = resolve));

/** Sets the function that asks the user for credentials; the sign-in form calls it once. @param {AskCredentials} ask */
export const askCredentialsBy = (ask) => dialogIsThere(ask);

/**
 * The servers that the transport sends requests to, and the function that receives its events.
 * @typedef {object} Connection
 * @property {string} root the path of the page's folder, such as `/ui/`
 * @property {string} registryBase the registry's address relative to that folder
 * @property {boolean} joinsRequests whether the page's server answers several GETs in one request
 * @property {() => string} context the context of the page, such as `.eu`; empty for the default one
 * @property {(event: import("./types.d.ts").TransportEvent) => void} onEvent
 */

/** @type {Connection} */
let connection = {
  root: "/ui/",
  registryBase: "../",
  joinsRequests: false,
  context: () => "",
  onEvent: () => {},
};

/** Sets where requests go; called once by state/connection.js, before the first request. @param {Connection} settings */
export function connect(settings) {
  connection = settings;
}

/** The context of the requests; empty for the default one. */
export const currentContext = () => connection.context();

/**
 * The full path of a request, without the origin.
 * @param {string} path
 * @param {{base?: "registry" | "rest" | "ui", query?: import("./types.d.ts").Query, context?: boolean}} options
 */
export function address(path, { base = "registry", query, context: inContext = true }) {
  const folder = { registry: connection.registryBase, rest: "rest/", ui: "" }[base];
  const start = new URL(folder, new URL(connection.root, "http://page")).pathname.slice(0, -1);
  const name = base === "registry" && inContext ? currentContext() : "";
  return start + (name ? "/contexts/" + encodeURIComponent(name) : "") + path + printQuery(query);
}

const transport = new Transport({
  address,
  askCredentials: async (schemes, message) => {
    const ask = await dialog;
    const authorization = await ask(schemes, message);
    scheme.value = authorization.split(" ")[0];
    return authorization;
  },
  tell: (event) => connection.onEvent(event),
  targetOf: (path, options) => {
    if (!connection.joinsRequests || (options.base ?? "registry") !== "registry") return null;
    return address(path, options).slice(address("", { context: false }).length);
  },
});

/**
 * Sends a request and reads its answer; see `Transport.call`.
 * @param {string} method
 * @param {string} path encoded, such as path`/subjects/${subject}`
 * @param {import("./types.d.ts").CallOptions} [options]
 */
export const call = (method, path, options) => transport.call(method, path, options);
