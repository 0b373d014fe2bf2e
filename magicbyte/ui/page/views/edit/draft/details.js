/** The dialogs of the editor: references, and metadata with rules. */
import { factOrUnknown, mapped, valueOr } from "../../../api/fact.js";
import { search } from "../../../api/registry.js";
import { Button } from "../../../parts/buttons.js";
import { Dialog } from "../../../parts/dialogs.js";
import { visibly } from "../../../parts/gap.js";
import { overview } from "../../../state/signals.js";
import { html, useEffect, useId, useState } from "../../../vendor/ui.js";
import { problemOf } from "./drafts.js";
import { usedNames } from "./used_names.js";

/** @import { Fact } from "../../../api/fact.js" */
/** @import { Draft, Reference } from "./drafts.js" */

/** The most subjects that the picker offers. */
const MOST_SUBJECTS = 200;

/**
 * Edits the references. Proposes the names that the text uses without a reference.
 * @param {{draft: Draft, onSave: (references: Reference[]) => void, onClose: () => void}} props
 */
export function References({ draft, onSave, onClose }) {
  const used = usedNames(draft.text, draft.type);
  const [rows, setRows] = useState(() => {
    const missing = used.filter((name) => !draft.references.some((reference) => reference.name === name));
    return [...draft.references, ...missing.map((name) => ({ name, subject: "", version: -1 }))];
  });
  const list = useId();
  const change = (/** @type {number} */ index, /** @type {Partial<Reference>} */ part) =>
    setRows(rows.map((row, at) => at === index ? { ...row, ...part } : row));
  const names = (overview.value?.subject ?? []).slice(0, MOST_SUBJECTS);
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    onSave(rows.filter(({ name, subject }) => name !== "" && subject !== ""));
  };
  return html`
    <${Dialog} title="References" wide onClose=${onClose}>
      <form class="stack" onSubmit=${save}>
        <p class="s dim">
          ${used.length
            ? "Each name that the text uses and does not define needs a subject that defines it."
            : "The text uses no name of another schema."}
        </p>
        <datalist id=${list}>${names.map((name) => html`<option value=${name} />`)}</datalist>
        ${rows.map((row, index) =>
          html`
            <${ReferenceRow}
              key=${index} row=${row} list=${list} unused=${row.name !== "" && !used.includes(row.name)}
              onChange=${(/** @type {Partial<Reference>} */ part) => change(index, part)}
              onRemove=${() => setRows(rows.filter((_, at) => at !== index))} />
          `
        )}
        <div class="foot">
          <${Button} kind="quiet" onClick=${() =>
            setRows([...rows, { name: "", subject: "", version: -1 }])}>Add one</${Button}>
          <span class="grow"></span>
          <${Button} onClick=${onClose}>Cancel</${Button}>
          <${Button} kind="primary" type="submit">Use these</${Button}>
        </div>
      </form>
    </${Dialog}>
  `;
}

/**
 * @param {{row: Reference, list: string, unused: boolean, onChange: (part: Partial<Reference>) => void,
 *   onRemove: () => void}} props
 */
function ReferenceRow({ row, list, unused, onChange, onRemove }) {
  const [proposed, setProposed] = useState(/** @type {Fact<{subject: string, version: number}[]> | null} */ (null));
  const name = row.name || "a name";
  const find = async () => {
    const word = row.name.replace(/\.(proto|json|avsc)$/, "").split(/[/.]/).at(-1) ?? "";
    const asked = search({ q: word, in: "name,text", latestOnly: true, limit: 8 });
    setProposed(mapped(await factOrUnknown(asked), ({ hits }) => hits ?? []));
  };
  useEffect(() => {
    if (row.name !== "" && row.subject === "") find();
  }, []);
  const value = (/** @type {any} */ event) => event.currentTarget.value;
  return html`
    <div class="reference">
      <input class="input mono" aria-label="Name in the text" placeholder="Name in the text" value=${row.name}
        spellcheck=${false} onInput=${(/** @type {Event} */ event) => onChange({ name: value(event) })} />
      <input class="input mono" aria-label=${`Subject of ${name}`} placeholder="Subject" list=${list} value=${row
        .subject}
        spellcheck=${false} onInput=${(/** @type {Event} */ event) => onChange({ subject: value(event) })} />
      <input class="input num" type="number" min="-1" aria-label=${`Version of ${name}; -1 is the latest`} value=${row
        .version}
        onInput=${(/** @type {Event} */ event) => onChange({ version: Number(value(event)) || -1 })} />
      <span class="row">
        <${Button} kind="quiet small" onClick=${find}>Find</${Button}>
        <${Button} kind="quiet small" label=${`Remove ${name}`} onClick=${onRemove}>Remove</${Button}>
      </span>
      ${unused && html`<p class="xs faint">The text does not use this name.</p>`}
      ${proposed !== null && html`
        <p class="row wrap xs dim">
          ${proposed.gap !== null && `The search failed: ${proposed.reason}`}
          ${proposed.gap === null && proposed.value.length === 0 && `No subject${visibly()} has this name in its text.`}
          ${valueOr(proposed, []).map(({ subject, version }) =>
            html`
              <${Button} kind="small" onClick=${() => onChange({ subject, version })}>${subject} ${version}</${Button}>
            `
          )}
        </p>
      `}
    </div>
  `;
}

/**
 * Edits metadata and rules as JSON, and the flag that makes the registry normalize the text.
 * @param {{draft: Draft, onSave: (part: Partial<Draft>) => void, onClose: () => void}} props
 */
export function Details({ draft, onSave, onClose }) {
  const [metadata, setMetadata] = useState(draft.metadata);
  const [ruleSet, setRuleSet] = useState(draft.ruleSet);
  const [normalize, setNormalize] = useState(draft.normalize);
  const problem = problemOf(metadata, "The metadata") ?? problemOf(ruleSet, "The rule set");
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (problem === null) onSave({ metadata, ruleSet, normalize });
  };
  return html`
    <${Dialog} title="Metadata and rules" wide onClose=${onClose}>
      <form class="stack" onSubmit=${save}>
        <${JsonArea} label="Metadata" hint="tags, properties and sensitive, as JSON" value=${metadata} onChange=${setMetadata}
          example=${'{"properties": {"owner": "team"}, "tags": {"**.email": ["PII"]}}'} />
        <${JsonArea} label="Rules" hint="domainRules, migrationRules and encodingRules, as JSON" value=${ruleSet}
          onChange=${setRuleSet}
          example=${'{"domainRules": [{"name": "positive", "kind": "CONDITION", "mode": "WRITE", "type": "CEL", "expr": "message.n > 0"}]}'} />
        <label class="check">
          <input type="checkbox" checked=${normalize} onChange=${(/** @type {any} */ event) =>
            setNormalize(event.currentTarget.checked)} />
          Normalize the text when it is registered
        </label>
        <p class="s bad-text" role="alert">${problem}</p>
        <div class="foot">
          <${Button} onClick=${onClose}>Cancel</${Button}>
          <${Button} kind="primary" type="submit" disabled=${problem !== null}>Use these</${Button}>
        </div>
      </form>
    </${Dialog}>
  `;
}

/**
 * A text field for a JSON object.
 * @param {{label: string, hint: string, value: string, example: string,
 *   whyNot?: string, onChange: (text: string) => void}} props `whyNot`: the id of the element that says why the text
 *   may not be changed
 */
export function JsonArea({ label, hint, value, example, whyNot, onChange }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label} <span class="faint xs">${hint}</span></label>
      <textarea id=${id} class="area" rows="4" spellcheck=${false} placeholder=${example} value=${value}
        readonly=${whyNot !== undefined} aria-describedby=${whyNot}
        onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value)}></textarea>
    </div>
  `;
}
