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
];

/**
 * @param {string} method
 * @param {string} path encoded, without query
 * @returns {{action: string, subject: string}} empty if the request is no action
 */
export function actionOf(method, path) {
  for (const [name, pattern, action] of ACTIONS) {
    const fits = name === method ? path.match(pattern) : null;
    if (fits) return { action, subject: decodeURIComponent(fits[1] ?? "") };
  }
  return { action: "", subject: "" };
}
