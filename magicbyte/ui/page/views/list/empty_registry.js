/** The page of a registry without subjects: three ways to create the first subject. */
import { curl } from "../../api/curl.js";
import { LinkButton } from "../../parts/buttons.js";
import { Snippet } from "../../parts/copying.js";
import { href } from "../../state/routes.js";
import { may } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";

export function EmptyRegistry() {
  const command = curl({
    method: "POST",
    path: "/subjects/orders-value/versions",
    body: { schema: '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}' },
  });
  return html`
    <div class="page narrow">
      <div class="page-head">
        <h1 tabindex="-1">Subjects</h1>
      </div>
      <p
        class="dim">The registry shows you no subject: it has none yet, or none that you may see. Rows appear here as soon as there is
        one.</p>
      <ol class="ways">
        <li class="card">
          <div class="body stack">
            <h2>Paste a schema</h2>
            <p class="dim s">Avro, JSON Schema or Protobuf: it is checked while you type.</p>
            <div>
              <${LinkButton} kind="primary" href=${href("/new")} reason=${may("register")
                .reason}>New schema</${LinkButton}></div>
          </div></li>
          <li class="card"><div class="body stack">
            <h2>See it with data</h2>
            <p class="dim s">A year of flights, through a broker, a registry and a REST proxy of its own.</p>
            <${Snippet} text="magicbyte demo" />
          </div></li>
          <li class="card"><div class="body stack">
            <h2>Register by curl</h2>
            <${Snippet} text=${command} />
          </div></li>
        </ol>
      </div>
  `;
}
