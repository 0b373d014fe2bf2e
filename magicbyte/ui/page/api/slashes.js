/**
 * Detects proxies that turn `%2F` in paths into a slash: behind them, the API paths of names with a slash are wrong.
 */

/** The status of the page's own error about such a proxy; no server sends this status. */
export const PATH_CHANGED = 1;

export const PATH_CHANGED_MESSAGE =
  "A proxy in front of the registry turns %2F into a slash, so names with a slash cannot be reached through it. " +
  "Let it pass on the path as it was sent ($request_uri in nginx, AllowEncodedSlashes NoDecode in Apache), " +
  "or open the registry's own address.";

/** @type {Promise<boolean> | null} */
let asked = null;

/**
 * Whether a proxy decodes `%2F` in paths. Only the first call sends a request.
 *
 * The registry answers 40401 for a subject that does not exist, and 404 for a path that does not exist.
 * @param {(path: string) => Promise<Response>} ask sends a request to the registry
 */
export function changesPaths(ask) {
  asked ??= ask("/subjects/a%2Fb/versions")
    .then(async (response) => response.status === 404 && Number((await response.json()).error_code) < 1000)
    .catch(() => false);
  return asked;
}
