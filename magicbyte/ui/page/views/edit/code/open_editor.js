/**
 * The text editor: CodeMirror in a shadow root, so that its styles are adopted style sheets, which the page's CSP
 * allows.
 */
import {
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  defaultKeymap,
  drawSelection,
  EditorState,
  EditorView,
  foldKeymap,
  highlightSelectionMatches,
  highlightSpecialChars,
  history,
  historyKeymap,
  indentOnInput,
  isolateHistory,
  json,
  keymap,
  lineNumbers,
  MergeView,
  Prec,
  protobuf,
  search,
  searchKeymap,
  StreamLanguage,
  unifiedMergeView,
} from "../../../vendor/editor.js";
import { marks, openMark, showMarks } from "./mark_extension.js";
import { stepActions, withAction } from "./step_action.js";
import { theme } from "./theme.js";
import { completions } from "./completions.js";

/**
 * @import { Change } from "../places/edits.js"
 * @import { Mark } from "./mark_extension.js"
 * @import { StepAction } from "./step_action.js"
 * @typedef {"AVRO" | "JSON" | "PROTOBUF"} SchemaType
 * @typedef {{
 *   text: () => string,
 *   replace: (text: string, action?: StepAction) => void,
 *   change: (changes: Change[]) => void,
 *   show: (marks: Mark[]) => void,
 *   open: (key: string | null) => void,
 *   measure: () => void,
 *   goTo: (offset: number, options?: {focus?: boolean}) => void,
 *   focus: () => void,
 *   close: () => void,
 * }} Editor  `replace` runs the action; Undo and Redo of the change reverse it and run it again
 * @typedef {{
 *   root: ShadowRoot, text: string, type: SchemaType, label: string, readOnly: boolean,
 *   original: {text: string, label: string} | null,
 *   onChange: (text: string) => void, onOpen: (key: string) => void, onRegister: () => void,
 * }} Options  `original`: a text to show on the left, with its differences marked
 */

/** On narrow screens, one column shows the differences. */
const NARROW = "(max-width: 800px)";

/** @param {SchemaType} type */
function languageOf(type) {
  return type === "PROTOBUF" ? StreamLanguage.define(protobuf) : json();
}

/**
 * Opens an editor in a shadow root.
 * @param {Options} options
 * @returns {Editor}
 */
export function openEditor(options) {
  const extensions = [
    ...reading(options.label),
    languageOf(options.type),
    completions(options.type),
    history(),
    autocompletion({ icons: false }),
    closeBrackets(),
    indentOnInput(),
    Prec.highest(keymap.of([{ key: "Mod-Enter", run: () => (options.onRegister(), true) }])),
    keymap.of([...closeBracketsKeymap, ...historyKeymap, ...completionKeymap]),
    replacing,
    stepActions,
    marks(options.onOpen),
    EditorState.readOnly.of(options.readOnly),
    EditorView.updateListener.of((/** @type {any} */ update) => {
      if (update.docChanged) options.onChange(update.state.doc.toString());
    }),
  ];
  const { original } = options;
  const { view, close } = original === null
    ? alone(options, extensions)
    : matchMedia(NARROW).matches
    ? alone(options, [...extensions, unified(original.text)])
    : sideBySide(options, original, extensions);
  return {
    text: () => view.state.doc.toString(),
    replace: (text, action) => {
      const isSame = text === view.state.doc.toString();
      // A change to the same text would be a step that Undo takes back without anything to see.
      if (isSame && action === undefined) return;
      view.dispatch({
        changes: isSame ? [] : { from: 0, to: view.state.doc.length, insert: text },
        effects: action === undefined ? [] : withAction.of(action),
        annotations: aStep(),
      });
    },
    change: (changes) => view.dispatch({ changes, userEvent: "input.remedy", annotations: aStep() }),
    show: (shown) => {
      const within = (/** @type {number} */ offset) => Math.min(offset, view.state.doc.length);
      const fitting = shown.map((mark) => ({
        ...mark,
        from: within(mark.from),
        to: within(mark.to),
        end: within(mark.end),
      }));
      view.dispatch({ effects: showMarks.of(fitting) });
    },
    open: (key) => view.dispatch({ effects: openMark.of(key) }),
    measure: () => view.requestMeasure(),
    goTo: (offset, { focus = false } = {}) => {
      const at = Math.min(offset, view.state.doc.length);
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      if (focus) view.focus();
    },
    focus: () => view.focus(),
    close,
  };
}

/**
 * Makes a change a step of its own for Undo. The history joins changes of one half second, and so would take back an edit
 * together with a button's change of the text.
 */
const aStep = () => isolateHistory.of("full");

/**
 * Replaces a selection by typed text. Chromium would wrap the text in elements with inline styles, which the CSP
 * forbids.
 */
const replacing = EditorView.domEventHandlers({
  /** @type {(event: InputEvent, view: any) => boolean} */
  beforeinput(event, view) {
    const { from, to, empty } = view.state.selection.main;
    const text = event.data;
    if (event.inputType !== "insertText" || empty || text === null || view.composing) return false;
    event.preventDefault();
    const insert = () =>
      view.state.update(view.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
    const handlers = view.state.facet(EditorView.inputHandler);
    const isHandled = handlers.some((/** @type {any} */ handler) => handler(view, from, to, text, insert));
    if (!isHandled) view.dispatch(insert());
    return true;
  },
});

/**
 * The extensions of editors and of read-only texts.
 * @param {string} label
 */
function reading(label) {
  return [
    theme,
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    bracketMatching(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of([...searchKeymap, ...foldKeymap, ...defaultKeymap]),
    EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
    EditorState.tabSize.of(2),
  ];
}

/**
 * @param {Options} options
 * @param {any[]} extensions
 */
function alone({ root, text }, extensions) {
  const view = new EditorView({ doc: text, extensions, parent: root, root });
  return { view, close: () => view.destroy() };
}

/** @param {string} original */
function unified(original) {
  return unifiedMergeView({ original, mergeControls: false, gutter: false });
}

/**
 * @param {Options} options
 * @param {{text: string, label: string}} start
 * @param {any[]} extensions
 */
function sideBySide({ root, text, type }, start, extensions) {
  const merge = new MergeView({
    a: {
      doc: start.text,
      extensions: [
        ...reading(start.label),
        languageOf(type),
        EditorState.readOnly.of(true),
        EditorView.editable.of(false),
      ],
    },
    b: { doc: text, extensions },
    parent: root,
    root,
    gutter: false,
  });
  merge.dom.style.height = "100%";
  const [first] = merge.chunks;
  if (first) merge.b.dispatch({ effects: EditorView.scrollIntoView(first.fromB, { y: "start", yMargin: 60 }) });
  return { view: merge.b, close: () => merge.destroy() };
}
