/** The settings of the registry, `/config`. They apply if a subject and its context set none. */
import { factOf, known } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { Crumb } from "../subject/subject_head.js";
import { Loaded } from "../../parts/states.js";
import { useRequest } from "../../parts/use_request.js";
import { useRights } from "../../parts/use_rights.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";
import { SettingCards } from "./setting_cards.js";

export default function ConfigPage() {
  useRights();
  const request = useRequest(load, []);
  return html`
    <header class="head tabless">
      <${Crumb} items=${[["Registry", href("/registry")], ["settings"]]} />
      <h1 tabindex="-1">Settings of the registry</h1>
    </header>
    <div class="page settings">
      <${Loaded} request=${request} rows=${10}>
        ${(/** @type {Awaited<ReturnType<typeof load>>} */ data) =>
          html`
            <${SettingCards} subject="" ...${data} live=${known([])} onChanged=${request.reload} />
          `}
      </${Loaded}>
    </div>
  `;
}

/** @param {AbortSignal} signal */
async function load(signal) {
  const [config, mode] = await Promise.all([
    factOf(registry.config("", { signal })),
    factOf(registry.mode("", { signal })),
  ]);
  return { config, general: config, mode };
}
