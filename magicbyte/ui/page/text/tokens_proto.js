/** Splits .proto texts into tokens. It never fails: invalid Protobuf becomes a token of the kind `other`. */

import { characterEnd, isSpace, matchEnd, stringEnd } from "./tokens_json.js";

/** @import { Growing, Kind, Tokens } from "./tokens_json.js" */

const NUMBER = /[+-]?(?:\d|\.\d)[\w.]*(?:(?<=[eE])[+-]\d+)?/y;
const NAME = /[\p{ID_Start}_][\p{ID_Continue}]*/uy;
const PUNCTUATION = "{}[]()<>;,=.:/";
/** Words that begin a statement or stand before a type. */
const KEYWORDS = new Set(
  ("edition enum export extend extensions false group import inf local map max message nan oneof option optional " +
    "package public repeated required reserved returns rpc service stream syntax to true weak").split(" "),
);
/** The scalar types. */
const TYPES = new Set(
  ("bool bytes double fixed32 fixed64 float int32 int64 sfixed32 sfixed64 sint32 sint64 string uint32 uint64").split(
    " ",
  ),
);

/**
 * The tokens of a .proto text, comments included, without the space between them.
 * @param {string} text
 * @returns {Growing}
 */
export function tokenizeProto(text) {
  /** @type {Growing} */
  const tokens = { kinds: [], starts: [], ends: [] };
  let at = 0;
  while (at < text.length) {
    if (isSpace(text.charCodeAt(at))) {
      at += 1;
      continue;
    }
    const [kind, end] = tokenAt(text, at);
    tokens.kinds.push(kind);
    tokens.starts.push(at);
    tokens.ends.push(end);
    at = end;
  }
  nameFields(text, tokens);
  return tokens;
}

/**
 * The kind and the end of the token that begins at `at`.
 * @param {string} text
 * @param {number} at
 * @returns {[Kind, number]}
 */
function tokenAt(text, at) {
  const first = text[at];
  if (first === "/") {
    const comment = commentEnd(text, at);
    if (comment > at) return ["comment", comment];
  }
  if (first === '"' || first === "'") return ["string", stringEnd(text, at)];
  const name = matchEnd(NAME, text, at);
  if (name > at) {
    const word = text.slice(at, name);
    return [KEYWORDS.has(word) || TYPES.has(word) ? "keyword" : "name", name];
  }
  const number = matchEnd(NUMBER, text, at);
  if (number > at) return ["number", number];
  if (PUNCTUATION.includes(first)) return ["punctuation", at + 1];
  return ["other", characterEnd(text, at)];
}

/** @param {string} text @param {number} at */
function commentEnd(text, at) {
  if (text[at + 1] === "/") {
    const line = text.indexOf("\n", at);
    return line < 0 ? text.length : line;
  }
  if (text[at + 1] !== "*") return -1;
  const end = text.indexOf("*/", at + 2);
  return end < 0 ? text.length : end + 2;
}

/**
 * Turns the name before `=` (of a field or an enum constant) into a key, even if it is a keyword such as `optional`.
 * @param {string} text
 * @param {Tokens} tokens
 */
function nameFields(text, tokens) {
  for (let index = 1; index < tokens.kinds.length; index += 1) {
    const before = tokens.kinds[index - 1];
    if (text[tokens.starts[index]] !== "=" || (before !== "name" && before !== "keyword")) continue;
    const word = text.slice(tokens.starts[index - 1], tokens.ends[index - 1]);
    if (word !== "syntax" && word !== "edition") tokens.kinds[index - 1] = "key";
  }
}
