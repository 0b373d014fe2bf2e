/** The table of keyboard shortcuts, which `?` opens. */
import { EVERYWHERE, singleKeys, tables, useKeys } from "../parts/keyboard.js";
import { Dialog } from "../parts/dialogs.js";
import { html, signal } from "../vendor/ui.js";

const open = signal(false);

export function openHelp() {
  open.value = true;
}

export function Help() {
  useKeys({ "?": ["This table", openHelp] }, { scope: EVERYWHERE });
  if (!open.value) return null;
  const close = () => open.value = false;
  /** @type {Map<string, [string, string][]>} */
  const scopes = new Map();
  for (const { scope, words } of tables.value) {
    scopes.set(scope, [...(scopes.get(scope) ?? []), ...Object.entries(words)]);
  }
  return html`<${Dialog} title="Keys" onClose=${close}>
    ${
    [...scopes].reverse().map(([scope, rows]) =>
      rows.length > 0 && html`
        <section key=${scope} class="keys">
          <h3>${scope}</h3>
          <dl>${rows.map(([key, words]) =>
            html`
              <div key=${key}>
                <dt>${key.split(" ").map((part, i) => html`<kbd key=${i}>${nameOf(part)}</kbd>`)}</dt>
                <dd>${words}</dd>
              </div>
            `
          )}</dl>
        </section>
      `
    )
  }
    <label class="check"><input type="checkbox" checked=${singleKeys.value}
      onChange=${(/** @type {any} */ event) =>
    singleKeys.value = event.currentTarget.checked} /> Single keys work</label>
    <div class="foot"><button type="button" class="btn" autofocus onClick=${close}>Close</button></div>
  </${Dialog}>`;
}

/** @param {string} key */
const nameOf = (key) => ({ Escape: "Esc", ArrowDown: "down", ArrowUp: "up", "Ctrl-k": "Ctrl K" })[key] ?? key;
