/**
 * Lays a schema's text out for reading. Only the space between tokens changes: numbers, escapes, the order of keys and
 * duplicate keys stay, so token i of the pretty text is token i of the stored text.
 */

import { tokenizeJson } from "./tokens_json.js";
import { tokenizeProto } from "./tokens_proto.js";

/** @import { Tokens } from "./tokens_json.js" */
/** @typedef {"AVRO" | "JSON" | "PROTOBUF"} SchemaType */

/**
 * A text and its tokens.
 * @typedef {{text: string, type: SchemaType, tokens: Tokens}} Layout
 */

const INDENT = 2;
/** Deeper levels get no further indentation. */
const DEEPEST = 60;
/** Arrays of plain values stay on one line up to this width. */
const WIDTH = 80;

/**
 * The text as it is stored, with its tokens.
 * @param {string} text
 * @param {SchemaType} type
 * @returns {Layout}
 */
export function asStored(text, type) {
  return { text, type, tokens: type === "PROTOBUF" ? tokenizeProto(text) : tokenizeJson(text) };
}

/**
 * The pretty layout of a stored text. A .proto text with several lines keeps them.
 * @param {Layout} stored
 * @returns {Layout}
 */
export function pretty(stored) {
  const { text, type, tokens } = stored;
  if (type === "PROTOBUF" && text.trim().includes("\n")) return stored;
  const gaps = type === "PROTOBUF" ? protoGaps(stored) : jsonGaps(stored);
  const parts = [];
  const starts = [];
  const ends = [];
  let length = 0;
  for (let index = 0; index < tokens.starts.length; index += 1) {
    const gap = gaps[index];
    const token = text.slice(tokens.starts[index], tokens.ends[index]);
    parts.push(gap, token);
    starts.push(length + gap.length);
    length += gap.length + token.length;
    ends.push(length);
  }
  return { text: parts.join(""), type, tokens: { kinds: tokens.kinds, starts, ends } };
}

/** @param {number} depth */
function newLine(depth) {
  return "\n" + " ".repeat(INDENT * Math.min(depth, DEEPEST));
}

/**
 * The space before each token of a JSON text.
 * @param {Layout} stored
 */
function jsonGaps({ text, tokens }) {
  const count = tokens.starts.length;
  /** @type {string[]} */
  const gaps = new Array(count).fill("");
  let depth = 0;
  /** The last token of the array that currently prints on one line. */
  let inlineEnd = -1;
  let column = 0;
  for (let index = 0; index < count; index += 1) {
    const token = text[tokens.starts[index]];
    const before = index === 0 ? "" : text[tokens.starts[index - 1]];
    const closes = token === "}" || token === "]";
    if (closes && index > inlineEnd) depth = Math.max(0, depth - 1);
    let gap = "";
    if (index === 0) gap = "";
    else if (before === '"' && isOpen(text, tokens, index - 1)) gap = newLine(depth);
    else if (index <= inlineEnd) gap = before === "," ? " " : "";
    else if (closes) gap = before === opening(token) ? "" : newLine(depth);
    else if (before === ":") gap = " ";
    else if (before === "," || before === "{" || before === "[") gap = newLine(depth);
    else if (token !== "," && token !== ":") gap = before === "}" || before === "]" ? newLine(depth) : " ";
    gaps[index] = gap;
    column = gap.startsWith("\n") ? gap.length - 1 : column + gap.length;
    if (token === "[" && index > inlineEnd) {
      inlineEnd = Math.max(inlineEnd, inlineArray({ text, tokens }, index, column));
    }
    if ((token === "{" || token === "[") && index > inlineEnd) depth += 1;
    column += tokens.ends[index] - tokens.starts[index];
  }
  return gaps;
}

/** @param {string} token */
function opening(token) {
  return token === "}" ? "{" : "[";
}

/**
 * Whether a string ends with its line because its closing quote is missing.
 * @param {string} text
 * @param {Tokens} tokens
 * @param {number} index
 */
function isOpen(text, tokens, index) {
  const end = tokens.ends[index];
  if (end < text.length && text[end] !== "\n") return false;
  return !/^"(?:[^"\\]|\\.)*"$/.test(text.slice(tokens.starts[index], end));
}

/**
 * The index of the last token of an array of plain values that fits on the line, or -1.
 * @param {{text: string, tokens: Tokens}} layout
 * @param {number} open
 * @param {number} column
 */
function inlineArray({ text, tokens }, open, column) {
  let width = column + 1;
  let valueBefore = false;
  for (let index = open + 1; index < tokens.starts.length; index += 1) {
    const token = text[tokens.starts[index]];
    if (token === "]") return index > open + 1 ? index : -1;
    const isComma = token === ",";
    if (token === "{" || token === "[" || token === "}" || token === ":" || isComma !== valueBefore) return -1;
    valueBefore = !isComma;
    width += tokens.ends[index] - tokens.starts[index] + (isComma ? 1 : 0);
    if (width + 2 > WIDTH) return -1;
  }
  return -1;
}

/**
 * The space before each token of a .proto text on one line.
 * @param {Layout} stored
 */
function protoGaps({ text, tokens }) {
  const count = tokens.starts.length;
  /** @type {string[]} */
  const gaps = new Array(count).fill("");
  let depth = 0;
  /** The depth in brackets of options and their literals, which stay on one line. */
  let nested = 0;
  for (let index = 0; index < count; index += 1) {
    const token = text.slice(tokens.starts[index], tokens.ends[index]);
    const before = index === 0 ? "" : text.slice(tokens.starts[index - 1], tokens.ends[index - 1]);
    const comment = index > 0 && tokens.kinds[index - 1] === "comment";
    if (token === "}" && nested === 0) depth = Math.max(0, depth - 1);
    const stored = index > 0 && tokens.starts[index] > tokens.ends[index - 1] ? " " : "";
    if (index === 0) gaps[index] = "";
    else if (comment) gaps[index] = newLine(depth);
    else if (nested > 0) gaps[index] = stored;
    else if (token === "}") gaps[index] = before === "{" ? "" : newLine(depth);
    else if (token === ";") gaps[index] = stored && before === "}" ? " " : "";
    else if (before === ";" || before === "{" || before === "}") gaps[index] = newLine(depth);
    else gaps[index] = stored || (token === "{" || token === "=" || before === "=" ? " " : "");
    if (token === "[" || token === "(") nested += 1;
    else if ((token === "]" || token === ")") && nested > 0) nested -= 1;
    else if (token === "{" && nested === 0) depth += 1;
  }
  return gaps;
}
