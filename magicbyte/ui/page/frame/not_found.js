/** The page for an unknown URL. */
import { href, route } from "../state/routes.js";
import { html } from "../vendor/ui.js";

export default function NotFound() {
  return html`
    <div class="page narrow">
      <div class="state">
        <h1 tabindex="-1">There is no such page</h1>
        <p class="mono anywhere">${route.value.path}</p>
        <p>Each page has the API's URL behind <span class="mono">/ui</span>, such as <span class="mono">/ui/subjects/orders-value/versions/3</span>.</p>
        <div class="row"><a class="btn primary" href=${href("/subjects")}>Subjects</a></div>
      </div>
    </div>
  `;
}
