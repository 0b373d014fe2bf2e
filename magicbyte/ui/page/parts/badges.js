/** Badges: type, verdict, level and plain ones. A sign and a word, never colour alone. */
import { html } from "../vendor/ui.js";
import { Icon } from "./icon.js";

/** @param {{tone?: "ok" | "bad" | "warn" | "line" | "", children?: any, title?: string}} props */
export const Badge = ({ tone = "", children, title }) =>
  html`<span class="badge ${tone} num" title=${title}>${children}</span>`;

/** @type {Record<string, [string, string]>} class and words */
const TYPES = { AVRO: ["avro", "Avro"], JSON: ["json", "JSON"], PROTOBUF: ["proto", "Protobuf"] };

/** @param {{type?: string | null}} props the API's `schemaType`; missing means Avro */
export function TypeBadge({ type }) {
  const [tone, words] = TYPES[type ?? "AVRO"] ?? ["", String(type)];
  return html`<span class="badge ${tone}">${words}</span>`;
}

/** @param {{ok: boolean, text: any}} props */
export const VerdictBadge = ({ ok, text }) =>
  html`<span class="badge ${ok ? "ok" : "bad"}"><${Icon} name=${ok ? "check" : "cross"} size=${11} />${text}</span>`;

/** The source of a level, in words. @type {Record<string, string>} */
export const ORIGINS = {
  subject: "its own",
  context: "from the context",
  global: "from the registry",
  server: "by default",
};

/** @param {{level: string, origin?: string}} props `origin` as the API has it: subject, context, global or server */
export const LevelBadge = ({ level, origin }) =>
  html`<span class="badge line">${level} ${
    origin && html`<span class="faint">${ORIGINS[origin] ?? origin}</span>`
  }</span>`;
