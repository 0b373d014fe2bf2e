/** Renders users' texts safely: as text nodes, with marks for invisible and direction-changing characters. */
import { html } from "../vendor/ui.js";

const INVISIBLE = new RegExp(
  "[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\u{e0000}-\\u{e007f}]",
  "u",
);
const INVISIBLE_ONES = new RegExp(`(${INVISIBLE.source})`, "gu");
/** In a name, line breaks and tabs count as invisible: they look like spaces, or like nothing at the end. */
const INVISIBLE_IN_NAMES = new RegExp(`([\\t\\n]|${INVISIBLE.source})`, "gu");

/**
 * A text with its invisible characters as marks, such as `U+202E`. In a name, line breaks, tabs, and spaces at both ends
 * count as invisible, too.
 * @param {{text: string | null | undefined, name?: boolean, start?: boolean, end?: boolean}} props `start` and `end`: whether
 *   the text begins or ends a name
 */
export function Shown({ text, name = false, start = name, end = name }) {
  const value = text ?? "";
  const first = start ? value.match(/^ */)?.[0] ?? "" : "";
  const last = end ? value.slice(first.length).match(/ *$/)?.[0] ?? "" : "";
  const invisible = name || start || end ? INVISIBLE_IN_NAMES : INVISIBLE_ONES;
  if (!first && !last && value.search(invisible) < 0) return value;
  const inner = value.slice(first.length, value.length - last.length);
  return [
    ...[...first].map((space, i) => html`<${InvisibleCharacter} key=${`first ${i}`} character=${space} />`),
    ...inner.split(invisible).map((part, i) =>
      i % 2 ? html`<${InvisibleCharacter} key=${i} character=${part} />` : part
    ),
    ...[...last].map((space, i) => html`<${InvisibleCharacter} key=${`last ${i}`} character=${space} />`),
  ];
}

/** @param {{character: string}} props */
function InvisibleCharacter({ character }) {
  const code = "U+" + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
  return html`<span class="char" title="An invisible character">${code}</span>`;
}

/** The address if it is http or https, else empty. Only such addresses become links. @param {string} text */
export function webAddress(text) {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : "";
  } catch {
    return "";
  }
}
