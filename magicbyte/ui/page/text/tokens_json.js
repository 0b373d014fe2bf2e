/**
 * Splits JSON texts into tokens. It never fails: invalid JSON becomes a token of the kind `other`.
 *
 * Tokens are columns instead of objects, so a text of several megabytes stays cheap.
 */

/**
 * The tokens of a text: token i has the kind `kinds[i]` and spans `starts[i]` to `ends[i]`, in UTF-16 units.
 * @typedef {{kinds: Kind[], starts: ArrayLike<number>, ends: ArrayLike<number>}} Tokens
 */
/** @typedef {{kinds: Kind[], starts: number[], ends: number[]}} Growing Tokens that are still being collected. */
/** @typedef {"key" | "string" | "number" | "keyword" | "punctuation" | "name" | "comment" | "other"} Kind */

const QUOTE = 34;
const BACKSLASH = 92;
const LINE_FEED = 10;
const COLON = 58;
const NUMBER = /-?\d[\w.+-]*/y;
const WORD = /[\p{ID_Start}_$][\p{ID_Continue}$]*/uy;
const KEYWORDS = new Set(["true", "false", "null"]);

/**
 * The tokens of a JSON text, without the space between them.
 * @param {string} text
 * @returns {Growing}
 */
export function tokenizeJson(text) {
  /** @type {Growing} */
  const tokens = { kinds: [], starts: [], ends: [] };
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (isSpace(code)) {
      at += 1;
      continue;
    }
    const end = code === QUOTE ? stringEnd(text, at) : simpleEnd(text, at);
    if (code === COLON) markKey(text, tokens);
    tokens.kinds.push(kindOf(text, at, end));
    tokens.starts.push(at);
    tokens.ends.push(end);
    at = end;
  }
  return tokens;
}

/** @param {number} code */
export function isSpace(code) {
  return code === 32 || (code >= 9 && code <= 13) || code === 0xfeff || code === 0xa0;
}

/**
 * The end of the string that begins at `start`; an unclosed string ends at the end of its line.
 * @param {string} text
 * @param {number} start
 */
export function stringEnd(text, start) {
  const quote = text.charCodeAt(start);
  let at = start + 1;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code === quote) return at + 1;
    if (code === LINE_FEED) return at;
    at += code === BACKSLASH && text.charCodeAt(at + 1) !== LINE_FEED ? 2 : 1;
  }
  return text.length;
}

/**
 * The end of `pattern` (a sticky expression) at `at`, or -1 if it does not match there.
 * @param {RegExp} pattern
 * @param {string} text
 * @param {number} at
 */
export function matchEnd(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/**
 * The end of the character at `at`: a surrogate pair is one character.
 * @param {string} text
 * @param {number} at
 */
export function characterEnd(text, at) {
  return at + (/** @type {number} */ (text.codePointAt(at)) > 0xffff ? 2 : 1);
}

/** @param {string} text @param {number} at */
function simpleEnd(text, at) {
  if ("{}[],:".includes(text[at])) return at + 1;
  const number = matchEnd(NUMBER, text, at);
  if (number > at) return number;
  const word = matchEnd(WORD, text, at);
  return word > at ? word : characterEnd(text, at);
}

/** @param {string} text @param {number} start @param {number} end @returns {Kind} */
function kindOf(text, start, end) {
  const first = text[start];
  if (first === '"') return "string";
  if ("{}[],:".includes(first)) return "punctuation";
  if (first === "-" ? end > start + 1 : first >= "0" && first <= "9") return "number";
  return KEYWORDS.has(text.slice(start, end)) ? "keyword" : "other";
}

/** Turns the string before a colon into a key. @param {string} text @param {Tokens} tokens */
function markKey(text, tokens) {
  const last = tokens.kinds.length - 1;
  if (last >= 0 && text.charCodeAt(tokens.starts[last]) === QUOTE) tokens.kinds[last] = "key";
}
