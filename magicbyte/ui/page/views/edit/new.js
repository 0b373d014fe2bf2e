/** A new subject: `/new?topic=&part=key`. */
import { factOf, known, mapped, UNKNOWN, valueOr } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { Segmented } from "../../parts/buttons.js";
import { Select } from "../../parts/menus.js";
import { useRequest } from "../../parts/use_request.js";
import { may } from "../../state/signals.js";
import { counted } from "../../text/counted.js";
import { html, useEffect, useId, useState } from "../../vendor/ui.js";
import { LEVELS } from "./places/levels.js";
import { FIRST_TEXTS, recordName, STRATEGIES, subjectName } from "./draft/subject_names.js";
import { useSubjectFacts } from "./meanwhile/subject_facts.js";
import { Workbench } from "./workbench.js";

/**
 * @import { Draft } from "./draft/drafts.js"
 * @import { SchemaType } from "./code/open_editor.js"
 * @typedef {Parameters<typeof subjectName>[0]} Choice
 */

const TYPES = [["AVRO", "Avro"], ["JSON", "JSON Schema"], ["PROTOBUF", "Protobuf"]];

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function NewPage({ query: { topic = "", part, type, subject: proposed = "" } }) {
  const first = /** @type {SchemaType} */ (type && type in FIRST_TEXTS ? type : "AVRO");
  const [choice, setChoice] = useState(
    /** @type {Choice} */ ({
      strategy: proposed ? "any" : "topic",
      topic,
      part: part === "key" ? "key" : "value",
      name: proposed,
    }),
  );
  const [ownLevel, setOwnLevel] = useState("");
  const [record, setRecord] = useState(recordName(FIRST_TEXTS[first], first));
  const subject = subjectName(choice, record);
  const request = useRequest((signal) => load(subject, signal), [subject]);
  const facts = useSubjectFacts(subject, request.data ?? { versions: [], level: UNKNOWN, mode: UNKNOWN });
  return html`
    <${Workbench}
      facts=${facts} subject=${subject} draftKey=${`new ${topic} ${part ?? ""}`} startText="" level=${ownLevel
        ? known(ownLevel)
        : facts.level}
      began=${beginning(first)}
      naming=${(/** @type {Draft} */ draft, /** @type {(part: Partial<Draft>) => void} */ change) =>
        html`
          <${Naming} choice=${choice} onChoice=${setChoice} draft=${draft} onDraft=${change} subject=${subject}
            onRecord=${setRecord}
            exists=${facts.versions.length} level=${ownLevel} onLevel=${setOwnLevel} inherited=${valueOr(
              facts.level,
              "",
            )} />
        `}
      onRegistered=${async (/** @type {string} */ name) => {
        if (ownLevel) await registry.putConfig(name, { compatibility: ownLevel });
      }} />
  `;
}

/**
 * @param {SchemaType} type
 * @returns {Draft}
 */
function beginning(type) {
  return {
    text: FIRST_TEXTS[type],
    type,
    from: null,
    base: 0,
    references: [],
    metadata: "",
    ruleSet: "",
    normalize: false,
  };
}

/**
 * @param {string} subject
 * @param {AbortSignal} signal
 */
async function load(subject, signal) {
  const names = subject === "" ? [] : await registry.subjects({ signal, prefix: subject });
  const [versions, config, mode] = await Promise.all([
    names.includes(subject) ? registry.versions(subject, { signal }) : [],
    // A user who may write a subject need not have the right to read its settings.
    factOf(registry.config(subject, { signal })),
    factOf(registry.mode(subject, { signal })),
  ]);
  return { versions, level: mapped(config, ({ compatibilityLevel }) => compatibilityLevel), mode };
}

/**
 * @param {{
 *   choice: Choice, onChoice: (choice: Choice) => void, draft: Draft, onDraft: (part: Partial<Draft>) => void,
 *   subject: string, exists: number, level: string, inherited: string, onLevel: (level: string) => void,
 *   onRecord: (name: string | null) => void,
 * }} props
 */
function Naming({ choice, onChoice, draft, onDraft, subject, exists, level, inherited, onLevel, onRecord }) {
  const id = useId();
  const why = useId();
  // The page sets the level after it has registered the schema, and the registry may refuse it.
  const levelReason = subject ? may("config", subject).reason : "";
  useEffect(() => onRecord(recordName(draft.text, draft.type)), [draft.text, draft.type]);
  const set = (/** @type {Partial<Choice>} */ part) => onChoice({ ...choice, ...part });
  const typed = (/** @type {any} */ event) => event.currentTarget.value.trim();
  const setType = (/** @type {any} */ type) => {
    const untouched = Object.values(FIRST_TEXTS).includes(draft.text);
    onDraft({ type, ...(untouched ? { text: FIRST_TEXTS[/** @type {SchemaType} */ (type)] } : {}) });
  };
  return html`
    <div class="naming">
      <${Segmented} label="Type" options=${TYPES} value=${draft.type} onChange=${setType} />
      <label class="row s"><span class="dim">Named by</span>
        <${Select} label="Named by" value=${choice.strategy} options=${STRATEGIES.map((
          { value, label },
        ) => [value, label])}
          onChange=${(/** @type {string} */ strategy) => set({ strategy })} />
      </label>
      ${choice.strategy.startsWith("topic") && html`
        <label class="row s" for=${id}><span class="dim">Topic</span>
          <input id=${id} class="input mono" value=${choice.topic} spellcheck=${false} autocomplete="off"
            onInput=${(/** @type {Event} */ event) => set({ topic: typed(event) })} />
        </label>
      `}
      ${choice.strategy === "topic" && html`
        <${Segmented} label="Part of the record" options=${[["key", "Key"], ["value", "Value"]]} value=${choice.part}
          onChange=${(/** @type {any} */ part) => set({ part })} />
      `}
      ${choice.strategy === "any" && html`
        <label class="row s" for=${id}><span class="dim">Subject</span>
          <input id=${id} class="input mono" value=${choice.name} spellcheck=${false} autocomplete="off"
            onInput=${(/** @type {Event} */ event) => set({ name: typed(event) })} />
        </label>
      `}
      <label class="row s"><span class="dim">Level</span>
        <${Select} label="Level" mono value=${level} disabled=${levelReason !== ""}
          aria-describedby=${levelReason ? why : undefined} options=${[
            ["", `as inherited: ${inherited || "unknown"}`],
            ...LEVELS,
          ]}
          onChange=${onLevel} />
      </label>
      ${levelReason && html`<p class="s dim" id=${why}>${levelReason}</p>`}
      ${exists > 0 && html`
        <p class="s warn-text"
          role="status">${subject} exists, with ${counted(exists, "version")}. This text would be the next one.</p>
      `}
    </div>
  `;
}
