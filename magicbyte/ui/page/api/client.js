/** The page's transport: its addresses, its sign-in, and its events, which go up to state/connection.js. */
import { connect, onTransport } from "../state/connection.js";
import { printQuery, ROOT } from "../state/routes.js";
import { config, context } from "../state/signals.js";
import { signal } from "../vendor/ui.js";
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

const transport = new Transport({
  address,
  askCredentials: async (schemes, message) => {
    const ask = await dialog;
    const authorization = await ask(schemes, message);
    scheme.value = authorization.split(" ")[0];
    return authorization;
  },
  tell: onTransport,
  targetOf: (path, options) => {
    if (!config.peek().features.includes("together") || (options.base ?? "registry") !== "registry") return null;
    return address(path, options).slice(address("", { context: false }).length);
  },
});
connect((path) => address(path, { context: false }));

/**
 * Sends a request and reads its answer; see `Transport.call`.
 * @param {string} method
 * @param {string} path encoded, such as path`/subjects/${subject}`
 * @param {import("../state/types.d.ts").CallOptions} [options]
 */
export const call = (method, path, options) => transport.call(method, path, options);
