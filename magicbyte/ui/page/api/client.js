/** The page's transport: its addresses and its sign-in. The state connects to it: the client imports nothing of the state. */
import { signal } from "../vendor/ui.js";
import { printQuery } from "./encode_url.js";
import { Transport } from "./transport.js";

export { ApiError } from "./transport.js";

/** How a person signed in by the page's form: `Bearer`, `Basic`, or empty. */
export const scheme = signal("");

/**
 * Asks for credentials by one of the schemes. Resolves the value of `Authorization`, or an empty text if nobody signs in.
 * @typedef {(schemes: string[], message: string) => Promise<string>} AskCredentials
 */

/** @type {(ask: AskCredentials) => void} */
let dialogIsThere;
/** The first requests are sent before the first render: a refusal that comes before the dialog waits for it. */
const dialog = /** @type {Promise<AskCredentials>} */ (new Promise((resolve) => dialogIsThere = resolve));

/** Sets how to ask a person for credentials; called once by the sign-in form. @param {AskCredentials} ask */
export const askCredentialsBy = (ask) => dialogIsThere(ask);

/**
 * Where requests go, and who gets the transport's events.
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

/** The context that requests concern; empty for the default one. */
export const currentContext = () => connection.context();

/**
 * The full path of a request behind the page's origin.
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
