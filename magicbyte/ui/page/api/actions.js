/** Maps a request to its action in `may`, so that a refusal disables its control. */

/** @type {[string, RegExp, string][]} method, path, action; the first group of the path is the subject */
const ACTIONS = [
  ["POST", /^\/subjects\/([^/]+)\/versions$/, "register"],
  ["POST", /^\/subjects\/([^/]+)\/(?:versions\/[^/]+\/)?undelete$/, "undelete"],
  ["POST", /^\/subjects\/([^/]+)\/versions\/[^/]+\/tags$/, "tags"],
  ["DELETE", /^\/subjects\/([^/]+)(?:\/versions\/[^/]+)?$/, "delete"],
  ["PUT", /^\/config(?:\/([^/]+))?$/, "config"],
  ["DELETE", /^\/config(?:\/([^/]+))?$/, "config"],
  ["PUT", /^\/mode(?:\/([^/]+))?$/, "mode"],
  ["DELETE", /^\/mode(?:\/([^/]+))?$/, "mode"],
  ["POST", /^\/import()$/, "import"],
  ["POST", /^\/topics\/([^/]+)$/, "produce"],
  ["POST", /^\/v3\/clusters\/[^/]+\/topics\/([^/]+)\/dead-letters:replay$/, "replay"],
];

/**
 * @param {string} method
 * @param {string} path encoded, without query
 * @param {import("./types.d.ts").Query} [query]
 * @returns {{action: string, subject: string}} empty if no action belongs to the request
 */
export function actionOf(method, path, query = {}) {
  for (const [name, pattern, action] of ACTIONS) {
    const fits = name === method ? path.match(pattern) : null;
    if (!fits) continue;
    const subject = decodeURIComponent(fits[1] ?? "");
    // Skipping the check needs one more right. A user without that right may still register.
    return { action: action === "register" && query.force ? "force" : action, subject };
  }
  return { action: "", subject: "" };
}
