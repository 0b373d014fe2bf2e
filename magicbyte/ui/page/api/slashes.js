/** Detects proxies that turn `%2F` in paths into a slash: API paths of names with a slash lead elsewhere there. */

/** The status of the error for such a proxy; no server sends it. */
export const PATH_CHANGED = 1;

export const PATH_CHANGED_MESSAGE =
  "A proxy in front of the registry turns %2F into a slash, so names with a slash cannot be reached through it. " +
  "Let it pass on the path as it was sent ($request_uri in nginx, AllowEncodedSlashes NoDecode in Apache), " +
  "or open the registry's own address.";

/** @type {Promise<boolean> | null} */
let asked = null;

/**
 * Whether a proxy changes such a path; asked once.
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
