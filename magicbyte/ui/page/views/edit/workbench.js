/** The editor's page: the text, the card 'Who breaks', the places, and the bar below. */
import { valueOr } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { PlainVerdict } from "../../parts/cards.js";
import { toast } from "../../parts/toasts.js";
import { useKeys } from "../../parts/keyboard.js";
import { useRights } from "../../parts/use_rights.js";
import { path } from "../../api/encode_url.js";
import { go, route, setQuery } from "../../state/routes.js";
import { asStored, pretty } from "../../text/pretty.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/ui.js";
import { useCheck } from "./checking.js";
import { Details, References } from "./draft/details.js";
import { dropDraft, otherStarts } from "./draft/drafts.js";
import { editCount } from "./draft/edit_count.js";
import { changesOf, moved } from "./places/edits.js";
import { placesOf } from "./places/findings.js";
import { EditHead } from "./head.js";
import { LEVELS } from "./places/levels.js";
import { aboutText, invalidMark, marksOf } from "./code/compute_marks.js";
import { laidOut, latestOf } from "./draft/stored_text.js";
import { useDraft } from "./draft/use_draft.js";
import { Conflict } from "./meanwhile/conflict.js";
import { News } from "./meanwhile/news.js";
import { useTheirs } from "./meanwhile/use_theirs.js";
import { PlaceList } from "./places/place_list.js";
import { PlaceNote } from "./places/place_note.js";
import { Outcome } from "./register.js";
import { useEqualVersion } from "./draft/same_text.js";
import { SourceEditor } from "./code/source_editor.js";
import { SourceHead } from "./source_head.js";
import { TryMessage } from "./try_message.js";
import { WhoBreaks } from "./places/who_breaks.js";
import { titleOf } from "./places/words.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Draft } from "./draft/drafts.js"
 * @import { LiveFacts } from "./meanwhile/subject_facts.js"
 * @import { DialogName } from "./source_head.js"
 * @import { Child } from "../../state/types.d.ts"
 * @typedef {{
 *   subject: string, draftKey: string, began: Draft, startText: string, facts: LiveFacts, level: Fact<string>,
 *   naming?: (draft: Draft, change: (part: Partial<Draft>) => void) => Child,
 *   onRegistered?: (subject: string) => Promise<void>,
 * }} Props  `level`: the level of the subject, or of a new subject; `naming`: the controls for the name of a new
 * subject
 */

/** The page requests the rights on a typed name after this pause, in ms. */
const TYPING_MS = 200;

/** @param {Props} props */
export function Workbench(props) {
  const { subject, draftKey, began, startText, facts, level: levelFact } = props;
  const { versions, mode } = facts;
  useRights([subject], { pause: TYPING_MS });
  // Empty if unknown; then the level asks for no cell.
  const level = valueOr(levelFact, "");
  const { query } = route.value;
  const editor = useRef(/** @type {import("./code/open_editor.js").Editor | null} */ (null));
  const key = `${route.value.context} ${draftKey}`;
  const [draft, change, restored] = useDraft(`${key} ${began.from ?? 0}`, began);
  const [otherDraft] = useMemo(() => otherStarts(key, began.from ?? 0), [key, began.from]);
  const [dialog, setDialog] = useState(/** @type {DialogName} */ (""));
  const [open, setOpen] = useState(/** @type {string | null} */ (null));
  const [start, setStart] = useState(startText);
  const [isSending, setSending] = useState(false);
  const now = useRef({ draft, start });
  now.current = { draft, start };
  const { theirs, show, close } = useTheirs(subject, began);
  const check = useCheck(subject, draft, facts.news);
  const equal = useEqualVersion(subject, draft, check.checked);
  // Show the verdicts of the last check until the next check returns.
  const all = check.checked?.versions.length ? check.checked.versions.map(({ version }) => version) : versions;
  useNewerCheck(check, facts);
  useFocusBehind(editor, theirs !== null);
  useStartOf(subject, draft, began, setStart);
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
  /**
   * Replaces the text and other parts of the draft as one step of Undo, in the toast and in the editor. If Undo took back
   * the text alone, an earlier text would keep the later base, and would be registered over the versions between them.
   */
  const replaceDraft = (/** @type {Partial<Draft>} */ part, /** @type {string} */ newStart, words = "") => {
    const { draft, start } = now.current;
    const { text = draft.text, ...parts } = part;
    const names = /** @type {(keyof typeof parts)[]} */ (Object.keys(parts));
    const before = Object.fromEntries(names.map((name) => [name, draft[name]]));
    if (text === draft.text && names.every((name) => parts[name] === before[name])) return;
    const set = (/** @type {Partial<Draft>} */ parts, /** @type {string} */ start) => () => {
      change(parts);
      setStart(start);
      close();
    };
    editor.current?.replace(text, { run: set(parts, newStart), reverse: set(before, start) });
    const undo = () => replaceDraft({ text: draft.text, ...before }, start);
    if (words !== "") toast(words, { action: { label: "Undo", onClick: undo } });
  };
  const format = () =>
    replaceDraft({ text: formatted(draft), from: draft.from, base: draft.base }, start, "The text is laid out.");
  const restart = () => replaceDraft({ ...began, text: startText }, startText, "The draft is discarded.");
  /** Rebases the draft onto the newer version. */
  const rebase = (/** @type {Partial<Draft>} */ part, /** @type {string} */ words) => {
    if (theirs === null) return;
    const { base, text } = theirs.draft;
    replaceDraft({ ...part, from: base, base }, text, words);
  };
  // Ignore keys with Ctrl or Alt while a dialog is open: they would close it, or act behind it.
  const unlessInDialog = (/** @type {() => void} */ act) => () => document.querySelector("dialog[open]") ?? act();
  const tryMessage = unlessInDialog(() => setDialog("message"));
  useKeys({
    "Ctrl-Enter": ["register", unlessInDialog(() => document.getElementById("register")?.click())],
    "Alt-Enter": ["try a message", tryMessage],
    m: ["try a message", tryMessage],
  }, { scope: "Editor" });
  return html`
    <div class="edit-page">
      <${EditHead} subject=${subject} level=${levelFact} mode=${mode} draft=${draft} check=${check} versions=${all} />
      ${props.naming?.(draft, change)}
      <div class=${`edit-main ${original ? "side-by-side" : ""}`}>
        ${theirs && html`
          <${Conflict} theirs=${theirs} mine=${draft} start=${start} onClose=${close}
            onKeep=${() => rebase({}, `Your text is on top of version ${theirs.draft.base}.`)}
            onTake=${() => rebase(theirs.draft, `The text is version ${theirs.draft.base}.`)}
            onMerge=${(/** @type {Partial<Draft>} */ merged) => rebase(merged, "The texts are merged.")} />
        `}
        <section class=${`card ed ${theirs ? "behind" : ""}`} aria-label="Proposed schema">
          <${SourceHead} draft=${draft} edits=${edits} restored=${restored} otherDraft=${otherDraft} onRestart=${restart}
            onDialog=${setDialog} onFormat=${format} />
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
      <${News} key=${subject} facts=${facts} draft=${draft} isQuiet=${isSending ||
        theirs?.draft.base === latestOf(versions)} onShow=${() => show(draft.base)}
        onAnew=${() => change({ base: 0 })} />
      <${Outcome} subject=${subject} versions=${versions} level=${levelFact} mode=${mode} draft=${draft} check=${check}
        equal=${equal} undecided=${theirs !== null} reload=${facts.reload} onBusy=${setSending}
        onStale=${() => show(draft.base)} onRegistered=${async (/** @type {any} */ answer) => {
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
 * Reads the start of a restored draft that was rebased onto a later version.
 * @param {string} subject
 * @param {Draft} draft
 * @param {Draft} began
 * @param {(text: string) => void} setStart
 */
function useStartOf(subject, draft, began, setStart) {
  useEffect(() => {
    if (draft.from === null || draft.from === began.from) return;
    const read = registry.version(subject, draft.from, { deleted: true });
    read.then(
      (stored) => setStart(laidOut(stored)),
      () => {/* The edits are counted from the version in the address. */},
    );
  }, []);
}

/**
 * Focuses the editor when the card in front of it closes.
 * @param {{current: import("./code/open_editor.js").Editor | null}} editor
 * @param {boolean} isBehind
 */
function useFocusBehind(editor, isBehind) {
  const before = useRef(isBehind);
  // Focus before the next key press, so that the key goes into the text.
  useLayoutEffect(() => {
    if (before.current && !isBehind) editor.current?.focus();
    before.current = isBehind;
  }, [isBehind]);
}

/**
 * Reads the subject's facts again when a check used other versions. Without a change feed, this is the only sign of a
 * change.
 * @param {import("./places/check.d.ts").Check} check
 * @param {LiveFacts} facts
 */
function useNewerCheck({ checked }, { versions, reload }) {
  useEffect(() => {
    if (!checked?.versions.length) return;
    const newest = latestOf(checked.versions.map(({ version }) => version));
    if (newest !== latestOf(versions)) reload().catch(() => {/* The next check or registration reads them. */});
  }, [checked]);
}

/**
 * Opens the first place of the first check if the level refuses it. Later checks do not scroll the text.
 * @param {import("./places/check.d.ts").Check} check
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

/** @param {Draft} draft */
function formatted({ text, type }) {
  return pretty(asStored(text, type)).text;
}
