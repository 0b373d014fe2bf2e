/** Buttons that copy a text or a request's curl command. */
import { curl } from "../api/curl.js";
import { html } from "../vendor/ui.js";
import { Button } from "./buttons.js";
import { askDialog } from "./dialogs.js";
import { Icon } from "./icon.js";
import { toast } from "./toasts.js";

/**
 * Copies a text and shows a toast; shows the text if the browser does not allow copying.
 * @param {string} text
 * @param {string} [what]
 */
export async function copy(text, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
    toast(what);
  } catch {
    await askDialog({ title: "Copy by hand", body: html`<${Snippet} text=${text} plain />`, confirm: "Done" });
  }
}

/** @param {{text: string | (() => string), label?: string, what?: string, kind?: string, children?: any}} props */
export const CopyButton = ({ text, label = "Copy", what, kind = "quiet", children }) =>
  html`<${Button} kind=${kind} label=${children ? undefined : label} onClick=${() =>
    copy(typeof text === "function" ? text() : text, what)}>
    <${Icon} name="copy" />${children}
  </${Button}>`;

/** Copies a request as a curl command. @param {{request: import("../api/types.d.ts").Request, kind?: string, label?: string}} props */
export const CurlButton = ({ request, kind = "", label = "Copy as curl" }) =>
  html`<${Button} kind=${kind} data-curl onClick=${() =>
    copy(curl(request), "curl command copied")}>${label}</${Button}>`;

/** The number of a text's characters that label its region. */
const NAMED = 60;

/** A command or a text to copy. @param {{text: string, plain?: boolean}} props `plain`: without a button */
export const Snippet = ({ text, plain = false }) =>
  html`<div class="snippet"><pre tabindex="0" role="region" aria-label=${`To copy: ${
    text.slice(0, NAMED)
  }`}>${text}</pre>${!plain && html`<${CopyButton} text=${text} kind="quiet small icon" />`}</div>`;
