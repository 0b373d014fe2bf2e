/** The editor's page: the text, who breaks, the places, and the bar below. */
import { known, valueOr } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { PlainVerdict } from "../../parts/cards.js";
import { toast } from "../../parts/toasts.js";
import { go, path, route, setQuery } from "../../state/routes.js";
import { asStored, pretty } from "../../text/pretty.js";
import { html, useEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { useCheck } from "./checking.js";
import { Conflict } from "./conflict.js";
import { Details, References } from "./draft/details.js";
import { draftOf, dropDraft, keepDraft, otherStarts, readDraft } from "./draft/drafts.js";
import { editCount } from "./draft/edit_count.js";
import { changesOf, moved } from "./places/edits.js";
import { placesOf } from "./places/findings.js";
import { EditHead } from "./head.js";
import { LEVELS } from "./places/levels.js";
import { aboutText, invalidMark, marksOf } from "./code/marked_places.js";
import { laidOut, latestOf } from "./draft/stored_text.js";
import { PlaceList } from "./places/place_list.js";
import { PlaceNote } from "./places/place_note.js";
import { Outcome } from "./register.js";
import { useEqualVersion } from "./draft/same_text.js";
import { SourceEditor } from "./code/source_editor.js";
import { TryMessage } from "./try_message.js";
import { WhoBreaks } from "./places/who_breaks.js";
import { titleOf } from "./places/words.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Draft } from "./draft/drafts.js"
 * @import { Mode } from "./register.js"
 * @import { Child } from "../../state/types.d.ts"
 * @typedef {{
 *   subject: string, draftKey: string, start?: {id: number, version: number}, began: Draft, versions: number[], startText: string,
 *   level: Fact<string>, mode: Fact<Mode>,
 *   naming?: (draft: Draft, change: (part: Partial<Draft>) => void) => Child,
 *   onRegistered?: (subject: string) => Promise<void>,
 * }} Props  `naming`: the controls for the name of a new subject
 */

/** @param {Props} props */
export function Workbench(props) {
  const { subject, draftKey, began, versions, startText } = props;
  const [newLevel, setNewLevel] = useState(/** @type {string | null} */ (null));
  const levelFact = newLevel === null ? props.level : known(newLevel);
  // Empty if there is a gap: no cell is asked for then.
  const level = valueOr(levelFact, "");
  const { query } = route.value;
  const editor = useRef(/** @type {import("./code/open_editor.js").Editor | null} */ (null));
  const key = `${route.value.context} ${draftKey}`;
  const [draft, change, restored] = useDraft(`${key} ${began.from ?? 0}`, began);
  const [otherDraft] = useMemo(() => otherStarts(key, began.from ?? 0), [key, began.from]);
  const [dialog, setDialog] = useState(/** @type {"" | "references" | "details" | "message"} */ (""));
  const [open, setOpen] = useState(/** @type {string | null} */ (null));
  const [theirs, setTheirs] = useState(/** @type {any} */ (null));
  const [start, setStart] = useState(startText);
  const check = useCheck(subject, draft);
  const equal = useEqualVersion(subject, draft, check.checked);
  const all = check.checked?.versions.length ? check.checked.versions.map(({ version }) => version) : versions;
  const latest = latestOf(all);
  const supposed = LEVELS.includes(query.level) ? query.level : level;
  const sent = check.checked?.sent ?? "";
  const places = useMemo(() => placesOf(check.checked?.explanations ?? [], latest, supposed), [
    check.checked,
    supposed,
  ]);
  const about = useMemo(() => aboutText(draft.type, sent, start, latest), [check.checked, start]);
  const marks = useMemo(
    () => check.invalid ? [invalidMark(check.invalid)] : marksOf(places, sent, about),
    [check.checked, check.invalid],
  );
  const edits = useMemo(() => draft.from === null ? null : editCount(start, draft.text, draft.type), [
    draft.text,
    start,
  ]);
  const place = check.invalid ? undefined : places.find(({ key }) => key === open);
  useFirstPlace(check, places, setOpen);

  const original = query.view === "split" && draft.from !== null
    ? { text: start, label: `Version ${draft.from}` }
    : null;
  const openPlace = (/** @type {string} */ key) => {
    setOpen(key);
    const mark = marks.find((candidate) => candidate.key === key);
    if (mark) editor.current?.goTo(mark.from);
  };
  const fix = (/** @type {import("./places/findings.js").Fix} */ { edits }) => {
    const changes = moved(sent, draft.text, changesOf(sent, edits));
    if (changes === null) return toast("The text has changed there. The remedies come again with the next check.");
    editor.current?.change(changes);
    editor.current?.focus();
  };
  const replace = (/** @type {string} */ text, /** @type {string} */ words) => {
    const before = editor.current?.text() ?? "";
    editor.current?.replace(text);
    if (before !== text) toast(words, { action: { label: "Undo", onClick: () => editor.current?.replace(before) } });
  };
  const restart = () => {
    replace(startText, "The draft is discarded.");
    change({ ...began, text: startText });
    setStart(startText);
  };
  const stale = async () => {
    const stored = await registry.version(subject, "latest");
    setTheirs({ ...stored, text: laidOut(stored) });
  };
  const refused = async () => {
    check.again();
    setNewLevel((await registry.config(subject)).compatibilityLevel ?? null);
  };
  const keepMine = () => {
    change({ base: theirs.version, from: theirs.version });
    setStart(theirs.text);
    setTheirs(null);
    check.again();
  };
  const takeTheirs = () => {
    replace(theirs.text, `The text is version ${theirs.version}.`);
    change(draftOf(theirs, theirs.version, theirs.text));
    setStart(theirs.text);
    setTheirs(null);
  };
  return html`
    <div class="edit-page">
      <${EditHead} ...${props} level=${levelFact} draft=${draft} check=${check} versions=${all} />
      ${props.naming?.(draft, change)}
      <div class=${`edit-main ${original ? "side-by-side" : ""}`}>
        ${theirs && html`
          <${Conflict}
            version=${theirs.version} onKeep=${keepMine} onTake=${takeTheirs} onClose=${() => setTheirs(null)}
            mine=${{ title: "Yours", hint: "not registered", text: draft.text }}
            theirs=${{ title: "Theirs", hint: `version ${theirs.version}, the latest`, text: theirs.text }}
            start=${{ title: "The start", hint: `version ${draft.from ?? draft.base}`, text: start }} />
        `}
        <section class=${`card ed ${theirs ? "behind" : ""}`} aria-label="Proposed schema">
          <div class="ed-head">
            <b>Proposed</b>
            <span class="faint xs">${editWords(edits, draft.from)}</span>
            ${restored && edits !== 0 && html`
              <span class="faint xs">draft of this tab</span>
              <${Button} kind="quiet small" onClick=${restart}>Discard</${Button}>
            `}
            ${otherDraft !== undefined && draft.from !== null && !restored && html`
              <${Button} kind="quiet small" onClick=${() => setQuery({ from: otherDraft })}>
                Open the draft since version ${otherDraft}
              </${Button}>
            `}
            <span class="grow"></span>
            <${Button} kind="quiet" onClick=${() => setDialog("message")}>Try a message</${Button}>
            <${Button} kind="quiet" onClick=${() => setDialog("references")}>References ${draft.references
              .length}</${Button}>
            <${Button} kind="quiet" onClick=${() => setDialog("details")}>Metadata and rules</${Button}>
            <${Button} kind="quiet" onClick=${() =>
              replace(formatted(draft), "The text is laid out.")}>Format</${Button}>
          </div>
          <${SourceEditor}
            handle=${editor} text=${draft.text} type=${draft.type} label=${`Proposed schema of ${
              subject || "a new subject"
            }`}
            original=${original} marks=${marks} open=${place ? open : null}
            note=${place && html`
              <${PlaceNote} place=${place} name=${titleOf(place, about).name} disabled=${check.checking}
                onFix=${fix} onClose=${() => setOpen(null)} />
            `}
            onChange=${(/** @type {string} */ text) => change({ text })} onOpen=${openPlace}
            onRegister=${() => document.getElementById("register")?.click()} />
        </section>
        <div class="side">
          ${check.checked?.plain ? html`<${PlainVerdict} ...${check.checked.plain} />` : html`
            <${WhoBreaks} check=${check} versions=${all} next=${latest + 1} isNamed=${subject !== ""}
              level=${supposed} onLevel=${(/** @type {string} */ name) =>
                setQuery({ level: name === level ? null : name })} />
          `}
          ${(!check.checked?.plain || check.invalid) && html`
            <${PlaceList} places=${places} check=${check} versions=${all} about=${about} open=${open}
              onOpen=${openPlace} />
          `}
        </div>
      </div>
      <${Outcome} ...${props} level=${levelFact} draft=${draft} check=${check} versions=${all} equal=${equal} undecided=${theirs !==
        null}
        onStale=${stale} onRefused=${refused} onRegistered=${async (/** @type {any} */ answer) => {
          dropDraft(`${key} ${began.from ?? 0}`);
          await props.onRegistered?.(subject);
          toast(`Version ${answer.version} is registered, with the id ${answer.id}.`);
          go(path`/subjects/${subject}/versions/${answer.version}`);
        }} />
      ${dialog === "message" && html`
        <${TryMessage} subject=${subject} draft=${draft} onClose=${() => setDialog("")} />
      `}
      ${dialog === "references" && html`
        <${References} draft=${draft} onClose=${() => setDialog("")} onSave=${(/** @type {any} */ references) => {
          change({ references });
          setDialog("");
        }} />
      `}
      ${dialog === "details" && html`
        <${Details} draft=${draft} onClose=${() => setDialog("")} onSave=${(/** @type {any} */ part) => {
          change(part);
          setDialog("");
        }} />
      `}
    </div>
  `;
}

/**
 * The draft, kept in the tab.
 * @param {string} key
 * @param {Draft} began
 * @returns {[Draft, (part: Partial<Draft>) => void, boolean]}  the last: a draft of this tab was restored
 */
function useDraft(key, began) {
  const kept = useMemo(() => readDraft(key), [key]);
  const restored = kept !== null && kept.text !== began.text;
  const [draft, setDraft] = useState(restored ? /** @type {Draft} */ (kept) : began);
  const written = useRef(draft);
  const latest = useRef(draft);
  latest.current = draft;
  const keep = () => {
    if (latest.current === written.current) return;
    written.current = latest.current;
    keepDraft(key, latest.current);
  };
  useEffect(() => {
    const timer = setTimeout(keep, 200);
    return () => clearTimeout(timer);
  }, [key, draft]);
  useEffect(() => {
    addEventListener("pagehide", keep);
    return () => {
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [key]);
  return [draft, (part) => setDraft((before) => ({ ...before, ...part })), restored];
}

/**
 * Opens the first place of the first check, if the level refuses it: later checks leave the text where it is.
 * @param {import("./checking.js").Check} check
 * @param {import("./places/findings.js").Place[]} places
 * @param {(key: string) => void} open
 */
function useFirstPlace(check, places, open) {
  const done = useRef(false);
  useEffect(() => {
    if (done.current || (check.checked === null && check.invalid === null)) return;
    done.current = true;
    if (places.length > 0 && places[0].asked) open(places[0].key);
  }, [check.checked, check.invalid]);
}

/**
 * @param {number | null} edits
 * @param {number | null} from
 */
function editWords(edits, from) {
  if (from === null || edits === null) return "";
  return edits === 0 ? `as version ${from}` : `${edits} ${edits === 1 ? "edit" : "edits"} since version ${from}`;
}

/** @param {Draft} draft */
function formatted({ text, type }) {
  return pretty(asStored(text, type)).text;
}
