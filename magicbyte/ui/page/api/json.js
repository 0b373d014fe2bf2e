/** Lossless JSON: keeps the text of numbers that a double cannot hold. */

/** A number as it was written, such as 9223372036854775807 or 1.10. */
export class Exact {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }

  /** The nearest double, for code that computes with it. */
  valueOf() {
    return Number(this.text);
  }
}

// A text that does not match loses nothing in JSON.parse, so it is parsed that way, which is faster.
const MAY_LOSE = /\d{16}|\d\.\d|\d[eE]/;

/**
 * Reads JSON; a number that a double would print differently becomes an `Exact`.
 * @param {string} text
 * @returns {any}
 */
export function parseJson(text) {
  return MAY_LOSE.test(text) ? JSON.parse(text, keepText) : JSON.parse(text);
}

/**
 * @this {unknown}
 * @param {string} _key
 * @param {unknown} value
 * @param {{source?: string}} [context]
 */
function keepText(_key, value, context) {
  const source = context?.source;
  return typeof value === "number" && source !== undefined && String(value) !== source ? new Exact(source) : value;
}

/**
 * Writes JSON as `JSON.stringify` does, with the text of `Exact` numbers.
 * @param {unknown} value
 * @param {number} [indent] spaces for each level; 0 writes one line
 * @returns {string}
 */
export function printJson(value, indent = 0) {
  return print(value, indent, "\n") ?? "null";
}

/**
 * @param {unknown} value
 * @param {number} indent
 * @param {string} newline the line break and the spaces of the level around
 * @returns {string | undefined}
 */
function print(value, indent, newline) {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const inner = newline + " ".repeat(indent);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const colon = indent ? ": " : ":";
  const items = Array.isArray(value)
    ? value.map((item) => print(item, indent, inner) ?? "null")
    : Object.entries(value).map(([key, item]) => [key, print(item, indent, inner)])
      .filter(([, text]) => text !== undefined)
      .map(([key, text]) => JSON.stringify(key) + colon + text);
  if (items.length === 0) return open + close;
  return indent ? open + inner + items.join("," + inner) + newline + close : open + items.join(",") + close;
}
