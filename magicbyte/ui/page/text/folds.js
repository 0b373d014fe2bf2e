/** Folds long runs of equal lines, and names the record around the next visible line. */

import { Lines } from "./positions.js";

/** @import { Row } from "./diff.js" */
/** @import { Layout } from "./pretty.js" */
/** A named part of a text, from its first to its last line. */
/** @typedef {{name: string, from: number, to: number}} Scope */
/** @typedef {{fold: true, from: number, to: number, name: string} | {fold: false, index: number}} Item */

/** Runs of at most this many lines are not folded. */
const SHORTEST = 6;
const LINES_BEFORE = 2;
const LINES_AFTER = 1;

/**
 * The rows to show, and the folds between them; `from` and `to` (exclusive) are indexes of rows.
 * @param {Row[]} rows
 * @param {(row: Row) => string} nameOf the record around a row, or ""
 * @param {(index: number) => boolean} [keep] rows that stay visible, for example because a note belongs to them
 * @returns {Item[]}
 */
export function fold(rows, nameOf, keep = () => false) {
  const visible = new Array(rows.length).fill(false);
  for (let index = 0; index < rows.length; index += 1) {
    if (keep(index)) visible[index] = true;
    if (rows[index].same) continue;
    const last = Math.min(rows.length - 1, index + LINES_AFTER);
    for (let near = Math.max(0, index - LINES_BEFORE); near <= last; near += 1) visible[near] = true;
  }
  /** @type {Item[]} */
  const items = [];
  for (let index = 0; index < rows.length;) {
    let end = index;
    while (end < rows.length && !visible[end]) end += 1;
    if (end - index > SHORTEST) {
      items.push({ fold: true, from: index, to: end, name: end < rows.length ? nameOf(rows[end]) : "" });
      index = end;
      continue;
    }
    const stop = Math.max(end, index + 1);
    for (; index < stop; index += 1) items.push({ fold: false, index });
  }
  return items;
}

/**
 * The named parts of a text below its root: Avro's named types, a JSON Schema's properties and definitions with
 * members, Protobuf's messages, enums, services and oneofs.
 * @param {Layout} layout
 * @returns {Scope[]}
 */
export function scopesOf(layout) {
  return layout.type === "PROTOBUF" ? protoScopes(layout) : jsonScopes(layout);
}

/**
 * The name of the innermost scope around a line, or "".
 * @param {Scope[]} scopes
 * @param {number} line
 */
export function scopeAt(scopes, line) {
  let best = null;
  for (const scope of scopes) {
    const inside = scope.from < line && line <= scope.to;
    if (inside && (best === null || scope.from >= best.from)) best = scope;
  }
  return best?.name ?? "";
}

/** @param {Layout} layout @returns {Scope[]} */
function jsonScopes(layout) {
  const { text, tokens } = layout;
  const lines = new Lines(text);
  /** @type {Scope[]} */
  const scopes = [];
  /** @type {{from: number, key: string, name: string, type: string}[]} */
  const open = [];
  let key = "";
  for (let index = 0; index < tokens.starts.length; index += 1) {
    const token = text.slice(tokens.starts[index], tokens.ends[index]);
    const top = open.at(-1);
    if (tokens.kinds[index] === "key") key = unquoted(token);
    else if (token === "{" || token === "[") {
      open.push({ from: lines.placeOf(tokens.starts[index]).line, key, name: "", type: "" });
      key = "";
    } else if (token === "}" || token === "]") {
      const closed = open.pop();
      const to = lines.placeOf(tokens.starts[index]).line;
      if (closed && token === "}" && open.length > 0 && to > closed.from) {
        const name = scopeName(layout, closed, open.at(-1)?.key ?? "");
        if (name) scopes.push({ name, from: closed.from, to });
      }
      key = "";
    } else if (top && tokens.kinds[index] === "string") {
      if (key === "name") top.name = unquoted(token);
      if (key === "type") top.type = unquoted(token);
      key = "";
    }
  }
  return scopes;
}

/**
 * @param {Layout} layout
 * @param {{key: string, name: string, type: string}} object
 * @param {string} container the key of the object's container
 */
function scopeName(layout, object, container) {
  if (layout.type === "AVRO") {
    return ["record", "enum", "fixed", "error"].includes(object.type) ? object.name : "";
  }
  return ["properties", "$defs", "definitions", "patternProperties"].includes(container) ? object.key : "";
}

/** @param {string} token */
function unquoted(token) {
  return token.slice(1, token.endsWith('"') ? -1 : undefined);
}

/** @param {Layout} layout @returns {Scope[]} */
function protoScopes({ text, tokens }) {
  const lines = new Lines(text);
  /** @type {Scope[]} */
  const scopes = [];
  /** @type {{name: string, from: number}[]} */
  const open = [];
  for (let index = 0; index < tokens.starts.length; index += 1) {
    const token = text[tokens.starts[index]];
    if (tokens.kinds[index] !== "punctuation") continue;
    if (token === "{") {
      const named = index > 1 && ["keyword", "key"].includes(tokens.kinds[index - 2]);
      const name = named ? text.slice(tokens.starts[index - 1], tokens.ends[index - 1]) : "";
      open.push({ name, from: lines.placeOf(tokens.starts[index]).line });
    } else if (token === "}") {
      const closed = open.pop();
      const to = lines.placeOf(tokens.starts[index]).line;
      if (closed?.name && to > closed.from) scopes.push({ name: closed.name, from: closed.from, to });
    }
  }
  return scopes;
}
