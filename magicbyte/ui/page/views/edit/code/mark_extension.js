/**
 * The editor's marks of places: a dot and a squiggle at each place, a highlight on the lines of the open place, and a
 * slot below them for the page's note.
 *
 * @typedef {{key: string, from: number, to: number, end: number, warning: boolean, message: string}} Mark
 *   `from` and `to` are underlined; the note stands below the line of `end`
 * @typedef {{marks: Mark[], open: string | null}} ShownMarks
 */
import {
  Decoration,
  EditorView,
  gutter,
  gutterLineClass,
  GutterMarker,
  RangeSet,
  StateEffect,
  StateField,
  WidgetType,
} from "../../../vendor/editor.js";

/** Replaces the marks. */
export const showMarks = StateEffect.define();
/** Opens the mark with a key; null closes the open mark. */
export const openMark = StateEffect.define();

/** The name of the slot below the open place. */
export const SLOT = "note";

class NoteSlot extends WidgetType {
  /** @param {string} key */
  constructor(key) {
    super();
    this.key = key;
  }

  /** @param {NoteSlot} other */
  eq(other) {
    return other.key === this.key;
  }

  toDOM() {
    const slot = document.createElement("slot");
    slot.name = SLOT;
    slot.style.display = "block";
    slot.style.whiteSpace = "normal";
    return slot;
  }

  ignoreEvent() {
    return true;
  }

  get estimatedHeight() {
    return 150;
  }
}

class Dot extends GutterMarker {
  /**
   * @param {Mark} mark
   * @param {(key: string) => void} onOpen
   */
  constructor(mark, onOpen) {
    super();
    this.mark = mark;
    this.onOpen = onOpen;
  }

  /** @param {Dot} other */
  eq(other) {
    return other.mark.key === this.mark.key && other.mark.warning === this.mark.warning;
  }

  toDOM() {
    const button = document.createElement("button");
    button.type = "button";
    button.tabIndex = -1;
    button.textContent = this.mark.warning ? "▲" : "●";
    button.className = this.mark.warning ? "warning" : "error";
    button.setAttribute("aria-label", this.mark.message);
    button.title = this.mark.message;
    button.addEventListener("click", () => this.onOpen(this.mark.key));
    return button;
  }
}

/** @type {any} */
const shownField = StateField.define({
  create: () => ({ marks: [], open: null }),
  /** @type {(shown: ShownMarks, transaction: any) => ShownMarks} */
  update(shown, transaction) {
    const marks = transaction.docChanged ? shown.marks.map((mark) => mapped(mark, transaction.changes)) : shown.marks;
    let next = marks === shown.marks ? shown : { ...shown, marks };
    for (const effect of transaction.effects) {
      if (effect.is(showMarks)) next = { ...next, marks: effect.value };
      if (effect.is(openMark)) next = { ...next, open: effect.value };
    }
    return next;
  },
  provide: (/** @type {any} */ field) =>
    EditorView.decorations.compute([field, "doc"], (/** @type {any} */ state) => decorations(state)),
});

/**
 * @param {Mark} mark
 * @param {any} changes
 * @returns {Mark}
 */
function mapped(mark, changes) {
  return { ...mark, from: changes.mapPos(mark.from), to: changes.mapPos(mark.to), end: changes.mapPos(mark.end) };
}

class ShownLine extends GutterMarker {
  elementClass = "cm-shown-gutter";
}

const shownLine = new ShownLine();

/**
 * The start offsets of the lines of the open place.
 * @param {any} state
 * @returns {{mark: Mark | undefined, starts: number[]}}
 */
function openLines(state) {
  const { marks, open } = state.field(shownField);
  const mark = marks.find((/** @type {Mark} */ { key }) => key === open);
  const starts = [];
  if (mark) {
    const last = state.doc.lineAt(mark.end).number;
    for (let number = state.doc.lineAt(mark.from).number; number <= last; number++) {
      starts.push(state.doc.line(number).from);
    }
  }
  return { mark, starts };
}

/** @param {any} state */
function decorations(state) {
  const { marks } = state.field(shownField);
  const ranges = marks.filter((/** @type {Mark} */ { from, to }) => from < to).map((/** @type {Mark} */ mark) =>
    Decoration.mark({ class: mark.warning ? "cm-lintRange-warning" : "cm-lintRange-error" }).range(mark.from, mark.to)
  );
  const { mark, starts } = openLines(state);
  for (const start of starts) ranges.push(Decoration.line({ class: "cm-shown" }).range(start));
  if (mark) {
    const below = Decoration.widget({ widget: new NoteSlot(mark.key), block: true, side: 1 });
    ranges.push(below.range(state.doc.lineAt(mark.end).to));
  }
  return Decoration.set(ranges, true);
}

/**
 * The extension. A click on a mark's dot calls `onOpen` with the mark's key.
 * @param {(key: string) => void} onOpen
 */
export function marks(onOpen) {
  return [
    shownField,
    gutterLineClass.compute(
      [shownField, "doc"],
      (/** @type {any} */ state) => RangeSet.of(openLines(state).starts.map((start) => shownLine.range(start)), true),
    ),
    gutter({
      class: "cm-places",
      lineMarker: (/** @type {any} */ view, /** @type {any} */ line) => {
        const here = view.state.field(shownField).marks.filter((/** @type {Mark} */ { from }) =>
          from >= line.from && from <= line.to
        );
        const mark = here.find((/** @type {Mark} */ { warning }) => !warning) ?? here[0];
        return mark ? new Dot(mark, onOpen) : null;
      },
      lineMarkerChange: (/** @type {any} */ update) =>
        update.startState.field(shownField) !== update.state.field(shownField),
      initialSpacer: () => null,
    }),
  ];
}
