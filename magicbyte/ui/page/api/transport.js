/**
 * Requests to the registry, the REST proxy and the page's server: one function, one class of errors.
 *
 * The transport does not know the page. It reports failures and refusals as events, and state/connection.js handles
 * them.
 */
import { parseJson, printJson } from "./json.js";
import { Together } from "./together.js";
import { changesPaths, PATH_CHANGED, PATH_CHANGED_MESSAGE } from "./slashes.js";

/** @typedef {import("./types.d.ts").CallOptions} CallOptions */
/** @typedef {import("./types.d.ts").TransportEvent} TransportEvent */

/** An error response, or a request without a response (status 0). */
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

/**
 * Whether an error means that the route is missing, not the resource.
 * @param {any} error
 */
export const isMissingRoute = (error) =>
  error?.status === 405 || (error?.status === 404 && (error.code === 0 || error.code === 404));

const SCHEMA_REGISTRY_JSON = "application/vnd.schemaregistry.v1+json";
/** Statuses of an unreachable server. */
export const GONE = new Set([502, 503, 504]);
/** Codes of writes that reached no leader. Reads still work, because the node answers them itself. */
const LEADERLESS = new Set([50003, 50004]);
const NO_LEADER = "The registry has no leader now: it answers questions, and changes wait for the next leader.";

export class Transport {
  /** @type {Promise<string> | null} */
  #asking = null;

  /**
   * @param {{
   *   address: (path: string, options: CallOptions) => string,
   *   askCredentials: (schemes: string[], message: string) => Promise<string>,
   *   tell: (event: TransportEvent) => void,
   *   targetOf?: (path: string, options: CallOptions) => string | null,
   * }} page `address` returns the full path of a request; `askCredentials` resolves an empty text if the user
   *   cancels; `tell` gets the events; `targetOf` returns the path of a GET that may join a batch, or null
   */
  constructor({ address, askCredentials, tell, targetOf = () => null }) {
    this.address = address;
    this.askCredentials = askCredentials;
    this.tell = tell;
    this.targetOf = targetOf;
    this.together = new Together((paths, signal) =>
      fetch(this.address("/together", { base: "ui" }), {
        method: "POST",
        headers: this.#headers({ "Content-Type": "application/json" }),
        body: JSON.stringify({ paths }),
        signal,
      })
    );
    /** The value of `Authorization` from the page's form, kept only in this tab's memory. */
    this.authorization = "";
  }

  /**
   * Sends a request and reads its answer.
   * @param {string} method
   * @param {string} path encoded, such as path`/subjects/${subject}`
   * @param {CallOptions} [options]
   * @returns {Promise<any>} an `Answer`, or the `Response` with `raw`
   * @throws {ApiError} if the status is 400 or more, or if no response arrived
   */
  async call(method, path, options = {}) {
    // Browsers resolve dot segments, encoded or not: PUT /config/. would change the registry's own settings.
    const dots = path.split("/").find((segment) => segment === "." || segment === "..");
    if (dots) throw new ApiError({ status: 400, message: `A browser cannot ask for the name ${dots}; use a command.` });
    let sent = this.authorization;
    let response = await this.#send(method, path, options);
    let schemes = challenges(response);
    while (schemes.length > 0) {
      // Another request may have received the credentials in the meantime.
      if (this.authorization === sent) {
        this.#asking ??= this.askCredentials(schemes, refused(sent)).finally(() => this.#asking = null);
        this.authorization = await this.#asking;
        if (!this.authorization) break;
        this.tell({ kind: "signed-in" });
      }
      sent = this.authorization;
      response = await this.#send(method, path, options);
      schemes = challenges(response);
    }
    return this.#finish(method, path, options, response);
  }

  /** @param {Record<string, string>} headers */
  #headers(headers) {
    const sent = new Headers({ Accept: "application/json", ...headers });
    if (this.authorization) sent.set("Authorization", this.authorization);
    return sent;
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} options
   * @returns {Promise<Response>}
   */
  async #send(method, path, options) {
    const { body, headers = {}, signal: aborted } = options;
    const target = method === "GET" && !options.raw && !options.headers ? this.targetOf(path, options) : null;
    const answer = target === null ? null : await this.together.get(target, options);
    if (answer) return answer;
    const sent = this.#headers(headers);
    const plain = body === undefined || typeof body === "string" || body instanceof Blob;
    if (body !== undefined && !sent.has("Content-Type")) {
      sent.set("Content-Type", (options.base ?? "registry") === "registry" ? SCHEMA_REGISTRY_JSON : "application/json");
    }
    const payload = plain ? /** @type {any} */ (body) : printJson(body);
    try {
      return await fetch(this.address(path, options), { method, headers: sent, body: payload, signal: aborted });
    } catch (error) {
      if (aborted?.aborted) throw error;
      const server = options.base === "rest" ? "The REST proxy" : "The registry";
      const message = `${server} cannot be reached.`;
      if (options.base !== "rest") this.tell({ kind: "lost", message });
      throw new ApiError({ status: 0, message });
    }
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {CallOptions} options
   * @param {Response} response
   */
  async #finish(method, path, options, response) {
    const isRest = options.base === "rest";
    if (response.ok && !isRest) this.tell({ kind: "reached" });
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
      const changed = await changesPaths((probe) => this.#send("GET", probe, { context: false }));
      if (changed) throw new ApiError({ status: PATH_CHANGED, message: PATH_CHANGED_MESSAGE });
    }
    const { message, requestId } = error;
    if (GONE.has(error.status) && method === "GET" && !isRest) this.tell({ kind: "lost", message, requestId });
    if (LEADERLESS.has(error.code) && !isRest) {
      this.tell({ kind: "lost", message: NO_LEADER, requestId, leaderless: true });
    }
    if (error.status === 403) this.tell({ kind: "refused", method, path, query: options.query, message });
    throw error;
  }
}

/**
 * The schemes in which a 401 asks for credentials; empty for other responses. The browser itself asks for a password
 * first; a 401 arrives here only if the user closed that prompt.
 * @param {Response} response
 * @returns {string[]}
 */
function challenges(response) {
  if (response.status !== 401) return [];
  const asked = response.headers.get("www-authenticate") ?? "";
  return ["Basic", "Bearer"].filter((scheme) => new RegExp(`(^|[\\s,])${scheme}([\\s,]|$)`, "i").test(asked));
}

/** Why the form asks again. @param {string} authorization the rejected value */
function refused(authorization) {
  if (!authorization) return "";
  return authorization.startsWith("Bearer") ? "The token was refused." : "The name or the password was refused.";
}

/**
 * @param {string} text
 * @param {boolean} exact
 */
function readJson(text, exact) {
  try {
    return exact ? parseJson(text) : JSON.parse(text);
  } catch {
    return null; // a proxy's HTML page with a JSON media type
  }
}
