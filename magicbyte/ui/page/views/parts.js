/** All parts in all states, for the tests' pictures. */
import { html } from "../vendor/ui.js";

export default function Parts() {
  return html`
    <div class="page">
      <h1 tabindex="-1">Parts</h1>
    </div>
  `;
}
