/** Requests as curl commands that a person can paste into a shell. */
import { address, scheme } from "./client.js";
import { printJson } from "./json.js";

/**
 * The command of a request, with this page's address. After a sign-in, `$TOKEN` or `$NAME` stands for the credentials.
 * @param {import("./types.d.ts").Request} request
 * @param {{origin?: string, signedIn?: string}} [options]
 * @returns {string}
 */
export function curl(request, { origin = location.origin, signedIn = scheme.value } = {}) {
  const { method, path, body, headers = {}, base = "registry" } = request;
  const words = ["curl"];
  if (method !== "GET") words.push("-X " + method);
  if (signedIn === "Bearer") words.push('-H "Authorization: Bearer $TOKEN"');
  if (signedIn === "Basic") words.push('--user "$NAME"');
  const type = base === "registry" ? "application/vnd.schemaregistry.v1+json" : "application/json";
  const sent = body !== undefined && !Object.keys(headers).some((name) => name.toLowerCase() === "content-type")
    ? { "Content-Type": type, ...headers }
    : headers;
  for (const [name, value] of Object.entries(sent)) words.push("-H " + quote(`${name}: ${value}`));
  if (body !== undefined) words.push("--data-binary " + quote(typeof body === "string" ? body : printJson(body)));
  words.push(quote(origin + address(path, request)));
  return words.length > 3 ? words.join(" \\\n  ") : words.join(" ");
}

/**
 * Quotes a text as one word of a POSIX shell.
 * @param {string} text
 */
export function quote(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", `'\\''`) + "'";
}
