/**
 * Parses and prints the bytes of messages (hexadecimal, base64, `\x00` escapes), and finds the parts of a message's
 * frame.
 *
 * A message begins with its frame: the byte 0 and a schema id in four bytes, or the byte 1 and a guid in sixteen bytes.
 * In Protobuf, the message indexes follow.
 */
import { counted } from "./counted.js";

/** @typedef {"hex" | "base64" | "escapes"} Form */
/** @typedef {{bytes: Uint8Array, form: Form} | {error: string, at: number}} Parsed */
/** @typedef {"magic" | "id" | "guid" | "index" | "payload"} Kind */
/** @typedef {{kind: Kind, from: number, to: number, words: string}} Cell */

/** The most bytes that a text may stand for: the limit of `/ui/decode`. */
export const MOST_BYTES = 1 << 20;

const ID_END = 5;
const GUID_END = 17;
/** @type {Record<string, number>} */
const ESCAPES = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, a: 7, e: 27, "\\": 92, "'": 39, '"': 34 };

/**
 * The bytes that a text stands for.
 * @param {string} text
 * @param {Form} [form] guessed by default
 * @returns {Parsed}
 */
export function parseBytes(text, form = guess(text)) {
  const parsed = { hex: parseHex, base64: parseBase64, escapes: parseEscapes }[form](text);
  if ("error" in parsed) return parsed;
  if (parsed.bytes.length > MOST_BYTES) return { error: "These are more than 1 MiB.", at: 0 };
  return parsed;
}

/**
 * Guesses the form of a text. A text that fits both counts as hexadecimal, unless it begins like the base64 of a frame.
 * @param {string} text
 * @returns {Form}
 */
export function guess(text) {
  if (/\\(x[0-9a-f]{2}|[0-7nrtbfva\\'"])/i.test(text)) return "escapes";
  const bare = text.trim();
  if (dumpLines(bare)) return "hex";
  const packed = bare.replace(/^0x/i, "").replace(/[\s:,-]|\b0x/gi, "");
  if (/^[0-9a-f]*$/i.test(packed) && !/^AAAA/.test(packed)) return "hex";
  return /^[A-Za-z0-9+/_=\s-]*$/.test(bare) ? "base64" : "hex";
}

/**
 * @param {string} text
 * @returns {Parsed}
 */
function parseHex(text) {
  const packed = (dumpLines(text) ?? text).replace(/\b0x|[\s:,-]/gi, "");
  const wrong = packed.search(/[^0-9a-f]/i);
  if (wrong >= 0) {
    const sign = String.fromCodePoint(packed.codePointAt(wrong) ?? 0);
    return { error: `“${sign}” is no hexadecimal digit.`, at: text.indexOf(sign) };
  }
  if (packed.length % 2) {
    return { error: `There are ${packed.length} hexadecimal digits: half a byte is missing.`, at: text.length };
  }
  const bytes = new Uint8Array(packed.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = parseInt(packed.slice(index * 2, index * 2 + 2), 16);
  }
  return { bytes, form: "hex" };
}

/**
 * The digits of a dump by xxd or `hexdump -C`, without the offsets and the characters; null if the text is not a dump.
 * @param {string} text
 */
function dumpLines(text) {
  const lines = text.trim().split("\n");
  const digits = [];
  for (const line of lines) {
    const xxd = line.match(/^\s*[0-9a-f]{6,8}:\s+((?:[0-9a-f]{2,4} ?)+)(?:\s{1,}.{0,16})?$/i);
    const canonical = line.match(/^[0-9a-f]{8}(?: {2}((?:[0-9a-f]{2} {1,2})*[0-9a-f]{2})\s*\|.*\|)?\s*$/i);
    if (!xxd && !canonical) return null;
    digits.push((xxd ?? canonical)?.[1] ?? "");
  }
  return lines.length > 1 || digits[0] ? digits.join(" ") : null;
}

/**
 * @param {string} text
 * @returns {Parsed}
 */
function parseBase64(text) {
  const packed = text.replace(/\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  const wrong = packed.search(/[^A-Za-z0-9+/=]/);
  if (wrong >= 0) return { error: `“${packed[wrong]}” is not in the alphabet of base64.`, at: wrong };
  try {
    const binary = atob(packed);
    return { bytes: Uint8Array.from(binary, (sign) => sign.charCodeAt(0)), form: "base64" };
  } catch {
    return { error: "This is no base64: characters are missing at its end.", at: text.length };
  }
}

/**
 * Parses a text with escapes, as Python and C print bytes: `b'\x00\x00abc\n'`.
 * @param {string} text
 * @returns {Parsed}
 */
function parseEscapes(text) {
  const literal = text.trim().match(/^[bB]?(['"])([\s\S]*)\1$/);
  const inner = literal ? literal[2] : text.replace(/^[\r\n]+|[\r\n]+$/g, "");
  /** @type {number[]} */
  const bytes = [];
  const encoder = new TextEncoder();
  const pieces = inner.matchAll(/\\x([0-9a-f]{2})|\\([0-7]{1,3})|\\(.)|([^\\]+)|(\\)$/gis);
  for (const { 0: piece, 1: hex, 2: octal, 3: escaped, 4: plain, index } of pieces) {
    if (hex) bytes.push(parseInt(hex, 16));
    else if (octal) bytes.push(parseInt(octal, 8) & 255);
    else if (plain) bytes.push(...encoder.encode(plain));
    else if (escaped && ESCAPES[escaped] !== undefined) bytes.push(ESCAPES[escaped]);
    else return { error: `${piece} is no escape; write a byte as \\x00.`, at: index };
  }
  return { bytes: Uint8Array.from(bytes), form: "escapes" };
}

/**
 * @param {Uint8Array} bytes
 * @param {string} [between]
 */
export function toHex(bytes, between = "") {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(between);
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(binary);
}

/** @param {string} text */
export function fromBase64(text) {
  return Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
}

/** @param {Uint8Array} bytes */
export function toEscapes(bytes) {
  return Array.from(bytes, (byte) => {
    if (byte === 92) return "\\\\";
    return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "\\x" + byte.toString(16).padStart(2, "0");
  }).join("");
}

/**
 * The parts of a message, in their order.
 * @param {Uint8Array} bytes
 * @param {{index?: string | null, framed?: boolean}} [known] the message indexes in hexadecimal, if it is Protobuf;
 *   false if all bytes are the payload
 * @returns {Cell[]}
 */
export function cells(bytes, { index = null, framed = true } = {}) {
  /** @type {Cell[]} */
  const parts = [];
  const add = (/** @type {Kind} */ kind, /** @type {number} */ to, /** @type {string} */ words) => {
    const from = parts.at(-1)?.to ?? 0;
    const end = Math.min(to, bytes.length);
    if (end > from) parts.push({ kind, from, to: end, words });
  };
  const magic = bytes[0];
  if (framed && bytes.length > 0) {
    add("magic", 1, magic > 1 ? `${magic}: neither 0 nor 1` : String(magic));
    if (magic === 0) {
      const id = bytes.length >= ID_END ? String(new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)) : "cut off";
      add("id", ID_END, id);
    } else if (magic === 1) {
      add("guid", GUID_END, bytes.length >= GUID_END ? guidText(bytes.subarray(1, GUID_END)) : "cut off");
    }
    if (index && magic <= 1) {
      const size = index.length / 2;
      add("index", (parts.at(-1)?.to ?? 0) + size, indexWords(bytes.subarray(parts.at(-1)?.to ?? 0)));
    }
  }
  const left = bytes.length - (parts.at(-1)?.to ?? 0);
  add("payload", bytes.length, counted(left, "byte"));
  return parts;
}

/** @param {Uint8Array} bytes sixteen */
function guidText(bytes) {
  const hex = toHex(bytes);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/**
 * Message indexes in words: the path from a message of the file through its nested messages.
 * @param {Uint8Array} bytes
 */
function indexWords(bytes) {
  const numbers = [];
  let [at, value, shift] = [0, 0, 0];
  while (at < bytes.length && (numbers.length === 0 || numbers.length <= numbers[0]) && at < 40) {
    const byte = bytes[at];
    at += 1;
    value += (byte & 127) * 2 ** shift;
    shift += 7;
    if (byte < 128) {
      numbers.push(value % 2 ? -(value + 1) / 2 : value / 2);
      [value, shift] = [0, 0];
      if (numbers[0] === 0) return "first message";
    }
  }
  return "message " + numbers.slice(1).join(".");
}

/**
 * The rows of a dump: offset, bytes, and the printable characters.
 * @param {Uint8Array} bytes
 * @param {number} [width]
 * @returns {{offset: string, bytes: string[], text: string}[]}
 */
export function dump(bytes, width = 16) {
  const rows = [];
  for (let at = 0; at < bytes.length; at += width) {
    const part = Array.from(bytes.subarray(at, at + width));
    rows.push({
      offset: at.toString(16).padStart(4, "0"),
      bytes: part.map((byte) => byte.toString(16).padStart(2, "0")),
      text: part.map((byte) => byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·").join(""),
    });
  }
  return rows;
}

/**
 * Bytes without a schema as JSON or text; null if they are neither.
 * @param {Uint8Array} bytes
 * @returns {{kind: "JSON" | "text", text: string} | null}
 */
export function plainText(bytes) {
  if (bytes.length === 0) return { kind: "text", text: "" };
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(text)) return null;
  if (/^\s*[[{]/.test(text)) {
    try {
      JSON.parse(text);
      return { kind: "JSON", text };
    } catch {
      return { kind: "text", text };
    }
  }
  return { kind: "text", text };
}
