/** The properties of a topic as a table, with an input for each changed property. */
import { Button } from "../../../parts/buttons.js";
import { Shown } from "../../../parts/hostile.js";
import { Icon } from "../../../parts/icon.js";
import { html } from "../../../vendor/ui.js";
import { inherited, MEANINGS, SOURCES } from "./meanings.js";

/** @typedef {import("../../../api/admin.js").Config} Config */
/** @typedef {import("../../../api/admin.js").Change} Change */
/** @typedef {(name: string, change: Change | null) => void} OnChange */

/** @param {{configs: Config[], changes: Map<string, Change>, reason: string, onChange: OnChange}} props */
export const ConfigTable = ({ configs, changes, reason, onChange }) =>
  html`
    <div class="table-scroll">
      <table class="config-table">
        <thead>
          <tr>
            <th scope="col">Property</th>
            <th scope="col">Value</th>
            <th scope="col">Where it is set</th>
            <th scope="col"><span class="hidden-text">Change</span></th>
          </tr>
        </thead>
        <tbody>${configs.map((config) =>
          html`
            <${Row} key=${config.name} config=${config} change=${changes.get(config.name)} reason=${reason}
              onChange=${onChange} />
          `
        )}</tbody>
      </table>
    </div>
  `;

/** @param {{config: Config, change?: Change, reason: string, onChange: OnChange}} props */
function Row({ config, change, reason, onChange }) {
  const { name, value, isReadOnly, source } = config;
  const off = reason || (isReadOnly ? "The broker does not let it be changed." : "");
  const isOwn = source === "DYNAMIC_TOPIC_CONFIG";
  return html`
    <tr class=${change ? "changed-row" : undefined}>
      <td><span class="mono s">${name}</span><br /><span class="dim xs config-meaning">${MEANINGS[name]?.meaning ??
        ""}</span></td>
      <td class="config-value">
        <${Value} config=${config} change=${change} onChange=${onChange} />
      </td>
      <td class="s">
        <${Origin} config=${config} isReset=${change?.operation === "DELETE"} />
      </td>
      <td class="r"><span class="row">
        ${change
          ? html`<${Button} kind="small quiet" label=${`Keep ${name} as it is`} onClick=${() =>
            onChange(name, null)}>Keep</${Button}>`
          : html`<${Button} kind="small" label=${`Change ${name}`} reason=${off} onClick=${() =>
            onChange(name, { name, value: value ?? "" })}>Change</${Button}>`}
        ${isOwn && !change &&
          html`<${Button} kind="small" label=${`Reset ${name}`} reason=${off} onClick=${() =>
            onChange(name, { name, operation: "DELETE" })}>Reset</${Button}>`}
      </span></td>
    </tr>
  `;
}

/** @param {{config: Config, change?: Change, onChange: OnChange}} props */
function Value({ config, change, onChange }) {
  const { name, value, isSensitive } = config;
  if (change?.operation === "DELETE") {
    const after = inherited(config);
    return html`
      <s class="mono s anywhere faint"><${Shown} text=${value} /></s>${" "}<span
        class="mono s anywhere">${after
          ? html`<${Shown} text=${after.value} />`
          : html`<span class="faint">the default</span>`}</span>
    `;
  }
  if (change) {
    return html`<${ValueInput} name=${name} value=${change.value ?? ""} onChange=${(/** @type {string} */ text) =>
      onChange(name, { name, value: text })} />`;
  }
  if (isSensitive) return html`<span class="faint">hidden: it is a secret</span>`;
  return value === null || value === ""
    ? html`<span class="faint">empty</span>`
    : html`<span class="mono s anywhere"><${Shown} text=${value} /></span>`;
}

/**
 * An input, or a select if there are few values.
 * @param {{name: string, value: string, onChange: (text: string) => void}} props
 */
export function ValueInput({ name, value, onChange }) {
  const values = MEANINGS[name]?.values;
  const change = (/** @type {any} */ event) => onChange(event.currentTarget.value);
  if (!values) {
    return html`
      <input class="input mono" aria-label=${`Value of ${name}`} value=${value} autocomplete="off"
        spellcheck=${false} onInput=${change} />
    `;
  }
  const all = values.includes(value) || value === "" ? values : [value, ...values];
  return html`<span class="select mono"><select aria-label=${`Value of ${name}`} value=${value} onChange=${change}>
    ${value === "" && html`<option value="" selected>choose</option>`}
    ${all.map((text) => html`<option key=${text} value=${text} selected=${text === value}>${text}</option>`)}
  </select><${Icon} name="down" size=${12} /></span>`;
}

/** @param {{config: Config, isReset: boolean}} props */
function Origin({ config, isReset }) {
  const after = inherited(config);
  if (isReset) return html`${after ? SOURCES[after.source] ?? after.source : "unknown"}`;
  const isOwn = config.source === "DYNAMIC_TOPIC_CONFIG";
  return html`${SOURCES[config.source] ?? config.source.toLowerCase().replaceAll("_", " ")}${
    isOwn && after && !config.isSensitive &&
    html`<br /><span class="faint xs anywhere">without it <${Shown} text=${after.value || "empty"} /></span>`
  }${config.isReadOnly && html`<br /><span class="faint xs">read-only</span>`}`;
}
