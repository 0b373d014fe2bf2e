/** All other settings: alias, normalization, groups, and the defaults of metadata and rules. */
import { mapped } from "../../api/fact.js";
import { hasOverview } from "../../api/features.js";
import { printJson } from "../../api/json.js";
import { putConfig } from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { CurlButton } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { toast } from "../../parts/toasts.js";
import { counted, numbered } from "../../text/counted.js";
import { NOT_SET } from "../../text/phrases.js";
import { html, useId, useState } from "../../vendor/ui.js";
import { JsonArea } from "../edit/draft/details.js";
import { objectOf, problemOf } from "../edit/draft/drafts.js";
import { fieldOrigin } from "./origins.js";
import { sent, settingsPath } from "./send.js";
import { DisabledReason } from "./disabled_reason.js";
import { writeReason } from "./write_reason.js";

const FLAGS = [
  ["normalize", "Normalize", "Texts are normalized when they are registered and looked up."],
  ["validateFields", "Validate fields", "Names of fields that begin with $$ are refused."],
];
const TEXTS = [
  ["alias", "Alias", "Another subject that requests for this name are answered from."],
  [
    "compatibilityGroup",
    "Compatibility group",
    "A property of the metadata: only versions with the same value are compared.",
  ],
];
const OBJECTS = [
  ["defaultMetadata", "Default metadata", '{"properties": {"owner": "team"}}'],
  ["overrideMetadata", "Override metadata", '{"properties": {"owner": "team"}}'],
  ["defaultRuleSet", "Default rules", '{"domainRules": []}'],
  ["overrideRuleSet", "Override rules", '{"domainRules": []}'],
];
const POLICY = "compatibilityPolicy";

/**
 * @typedef {Record<string, string>} Values  all values as texts: `true`, `false` or empty for flags, JSON for objects
 */

/**
 * @param {{
 *   subject: string, mode: string, config: Record<string, any>,
 *   general: import("../../api/fact.js").Fact<Record<string, any>>, onChanged: () => void,
 * }} props
 */
export function MoreSettingsCard({ subject, mode, config, general, onChanged }) {
  const stored = valuesOf(config);
  const [values, setValues] = useState(stored);
  const reason = writeReason("config", subject, mode);
  const why = useId();
  const whyNot = reason === "" ? undefined : why;
  const set = (/** @type {string} */ name) => (/** @type {string} */ value) => setValues({ ...values, [name]: value });
  const problem = OBJECTS.map(([name, label]) => problemOf(values[name], label)).find((text) => text !== null) ?? null;
  const change = problem === null ? changeOf(stored, values) : {};
  const count = Object.keys(change).length;
  const save = () =>
    sent(() => putConfig(subject, change), () => {
      toast(`${counted(count, "setting")} ${numbered(count, "is", "are")} changed.`, {
        action: { label: "Undo", onClick: () => sent(() => putConfig(subject, changeOf(values, stored)), onChanged) },
      });
      onChanged();
    });
  const origin = (/** @type {string} */ name) =>
    fieldOrigin(config[name], mapped(general, (values) => values[name]), subject);
  const texts = TEXTS.filter(([name]) => subject !== "" || name !== "alias");
  return html`
    <${Card} title="Other settings" aria-label="Other settings">
      <div class="stack settings-form">
        ${!hasOverview() &&
          html`<p class="s dim">A registry of another kind may not have all of these. It refuses or ignores those that it lacks.</p>`}
        ${FLAGS.map(([name, label, words]) =>
          html`
            <${Setting} key=${name} label=${label} words=${words} origin=${origin(name)}>
              <${Select} label=${label} value=${values[name]} disabled=${reason !== ""}
                aria-describedby=${whyNot}
                options=${[["", NOT_SET], ["true", "yes"], ["false", "no"]]} onChange=${set(name)} />
              </${Setting}>
          `
        )}
        <${Setting} label="Policy" words="STRICT judges by the reference's rules; LENIENT lets more pass." origin=${origin(
          POLICY,
        )}>
          <${Select} label="Policy" value=${values[POLICY]} disabled=${reason !== ""}
            aria-describedby=${whyNot}
            options=${[["", NOT_SET], "STRICT", "LENIENT"]} onChange=${set(POLICY)} />
        </${Setting}>
        ${texts.map(([name, label, words]) =>
          html`
            <${TextSetting} key=${name} label=${label} words=${words} origin=${origin(name)} value=${values[name]}
              whyNot=${whyNot} onChange=${set(name)} />
          `
        )}
        <div class="json-areas">${OBJECTS.map(([name, label, example]) =>
          html`
            <${JsonArea} key=${name} label=${label} hint=${origin(name)} value=${values[name]} example=${example}
              whyNot=${whyNot} onChange=${set(name)} />
          `
        )}</div>
        <${DisabledReason} id=${why} reason=${reason} />
        <p class="s bad-text" role="alert">${problem}</p>
        <div class="row wrap">
          <${Button} kind="primary" reason=${reason} disabled=${count === 0} onClick=${save}>
            Save${count ? ` ${counted(count, "change")}` : ""}
          </${Button}>
          <span class="grow"></span>
          <${CurlButton} kind="quiet" request=${{
            method: "PUT",
            path: "/config" + settingsPath(subject),
            body: change,
          }} />
        </div>
      </div>
    </${Card}>
  `;
}

/** @param {{label: string, words: string, origin: string, children?: any, for?: string}} props */
function Setting({ label, words, origin, children, for: id }) {
  return html`
    <div class="setting">
      <div>
        <p>${id
          ? html`<label for=${id}><b>${label}</b></label>`
          : html`<b>${label}</b>`} <span class="faint xs">${origin}</span></p>
        <p class="xs dim">${words}</p>
      </div>
      <div class="setting-control">${children}</div>
    </div>
  `;
}

/**
 * @param {{label: string, words: string, origin: string, value: string, whyNot?: string,
 *   onChange: (value: string) => void}} props `whyNot`: the id of the element that says why the value may not be
 *   changed
 */
function TextSetting({ label, words, origin, value, whyNot, onChange }) {
  const id = useId();
  return html`
    <${Setting} label=${label} words=${words} origin=${origin} for=${id}>
      <input id=${id} class="input mono" value=${value} readonly=${whyNot !== undefined} aria-describedby=${whyNot}
        spellcheck=${false}
        autocomplete="off"
        onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value.trim())} />
      </${Setting}>
  `;
}

/**
 * @param {Record<string, any>} config
 * @returns {Values}
 */
function valuesOf(config) {
  const names = [...FLAGS, ...TEXTS, ...OBJECTS].map(([name]) => name).concat(POLICY);
  return Object.fromEntries(names.map((name) => [name, printed(config[name])]));
}

/** @param {unknown} value */
function printed(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? printJson(value, 2) : String(value);
}

/**
 * The body that turns one set of values into another; null clears a field.
 * @param {Values} stored
 * @param {Values} values
 * @returns {Record<string, unknown>}
 */
function changeOf(stored, values) {
  const flags = new Set(FLAGS.map(([name]) => name));
  const objects = new Set(OBJECTS.map(([name]) => name));
  const changed = Object.keys(values).filter((name) => values[name].trim() !== stored[name].trim());
  return Object.fromEntries(changed.map((name) => {
    const text = values[name].trim();
    if (text === "") return [name, null];
    return [name, flags.has(name) ? text === "true" : objects.has(name) ? objectOf(text, name) : text];
  }));
}
