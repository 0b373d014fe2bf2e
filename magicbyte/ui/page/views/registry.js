/** The registry. */
import { html } from "../vendor/ui.js";

export default function Registry() {
  return html`
    <div class="page">
      <h1 tabindex="-1">Registry</h1>
    </div>
  `;
}
