/** Badges: type, verdict, level and plain ones. Each has a sign and a word, never colour alone. */
import { originWords } from "../text/phrases.js";
import { html } from "../vendor/ui.js";
import { Icon } from "./icon.js";

/** @param {{tone?: "ok" | "bad" | "warn" | "line" | "", children?: any, title?: string}} props */
export const Badge = ({ tone = "", children, title }) =>
  html`<span class="badge ${tone} num" title=${title}>${children}</span>`;

/** @type {Record<string, [string, string]>} class and label */
const TYPES = { AVRO: ["avro", "Avro"], JSON: ["json", "JSON"], PROTOBUF: ["proto", "Protobuf"] };

/** @param {{type?: string | null}} props the API's `schemaType`; missing means Avro */
export function TypeBadge({ type }) {
  const [tone, words] = TYPES[type ?? "AVRO"] ?? ["", String(type)];
  return html`<span class="badge ${tone}">${words}</span>`;
}

/** @param {{ok: boolean, text: any}} props */
export const VerdictBadge = ({ ok, text }) =>
  html`<span class="badge ${ok ? "ok" : "bad"}"><${Icon} name=${ok ? "check" : "cross"} size=${11} />${text}</span>`;

/**
 * A level or a mode with its origin.
 * @param {{level: string, origin?: string, ofRegistry?: boolean}} props `origin` as the API has it: subject, context,
 *   global or server; `ofRegistry`: it is a setting of the registry itself
 */
export function LevelBadge({ level, origin, ofRegistry = false }) {
  const words = originWords(origin, ofRegistry);
  return html`<span class="badge line">${level} ${words && html`<span class="faint">${words}</span>`}</span>`;
}

/**
 * The origin of a level in the listing, which only has whether the subject sets it. In a context, the level may be
 * inherited from the context or the registry.
 * @param {{ownLevel: boolean | null}} facts
 * @param {string} context
 */
export const listedOrigin = ({ ownLevel }, context) => ownLevel ? "subject" : context ? "inherited" : "global";
