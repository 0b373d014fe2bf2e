/**
 * The name of the type that a text defines: `nyc.Flight`, the title of a JSON Schema, the first message of a .proto
 * text.
 */

import { tokenizeProto } from "./tokens_proto.js";

/** @import { SchemaType } from "./pretty.js" */

/** @param {string} text @param {SchemaType} type @returns {string} empty if the text has no name */
export function recordName(text, type) {
  if (type === "PROTOBUF") return protoName(text);
  /** @type {any} */
  let root;
  try {
    root = JSON.parse(text);
  } catch {
    return "";
  }
  if (type === "JSON") return typeof root?.title === "string" ? root.title : "";
  if (typeof root?.name !== "string") return "";
  const { name, namespace } = root;
  return typeof namespace === "string" && namespace && !name.includes(".") ? `${namespace}.${name}` : name;
}

/** The search for the first message of a .proto text ends after this many characters. */
const HEAD = 100_000;

/** @param {string} whole */
function protoName(whole) {
  const text = whole.slice(0, HEAD);
  const { kinds, starts, ends } = tokenizeProto(text);
  const words = Array.from(starts, (start, index) => kinds[index] === "comment" ? "" : text.slice(start, ends[index]));
  const statement = (/** @type {string} */ word) => {
    const at = words.findIndex((candidate, index) =>
      candidate === word && (index === 0 || [";", "}", ""].includes(words[index - 1]))
    );
    return at < 0 ? -1 : at + 1;
  };
  const message = statement("message");
  if (message <= 0) return "";
  const at = statement("package");
  const end = at > 0 ? words.indexOf(";", at) : -1;
  const prefix = end > 0 ? words.slice(at, end).join("") : "";
  return prefix ? `${prefix}.${words[message]}` : words[message];
}
