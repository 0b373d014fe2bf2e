/** The editor as a component: CodeMirror in an element's shadow root, with the open note in its slot. */
import { h, html, useEffect, useLayoutEffect, useRef } from "../../../vendor/ui.js";
import { openEditor } from "./open_editor.js";
import { SLOT } from "./mark_extension.js";

/**
 * @import { Editor, SchemaType } from "./open_editor.js"
 * @import { Mark } from "./mark_extension.js"
 * @import { Child } from "../../../state/types.d.ts"
 */

/**
 * @param {{
 *   handle: {current: Editor | null}, text: string, type: SchemaType, label: string, readOnly?: boolean,
 *   original: {text: string, label: string} | null, marks: Mark[], open: string | null, note: Child,
 *   onChange: (text: string) => void, onOpen: (key: string) => void, onRegister: () => void,
 * }} props
 */
export function SourceEditor(props) {
  const { handle, type, label, readOnly = false, original, marks, open, note } = props;
  const host = useRef(/** @type {HTMLElement | null} */ (null));
  const latest = useRef(props);
  latest.current = props;
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (host.current);
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open" });
    const editor = openEditor({
      root,
      text: latest.current.text,
      type,
      label,
      readOnly,
      original,
      onChange: (text) => latest.current.onChange(text),
      onOpen: (key) => latest.current.onOpen(key),
      onRegister: () => latest.current.onRegister(),
    });
    editor.show(latest.current.marks);
    editor.open(latest.current.open);
    handle.current = editor;
    return () => {
      editor.close();
      handle.current = null;
    };
  }, [type, label, readOnly, original?.text]);
  useLayoutEffect(() => {
    const element = host.current;
    // CodeMirror keeps a range in the text that it measured last. The range must not keep the page around the editor.
    return () => element?.remove();
  }, []);
  useEffect(() => handle.current?.show(marks), [marks]);
  useEffect(() => handle.current?.open(open), [open]);
  useNoteHeight(host, handle, open);
  return html`
    <div class=${`source ${original ? "side-by-side" : ""}`} ref=${host}>
      ${note && h("div", { slot: SLOT, class: "slotted", key: open }, note)}
    </div>
  `;
}

/**
 * Tells the editor when the note's height changes.
 * @param {{current: HTMLElement | null}} host
 * @param {{current: Editor | null}} handle
 * @param {string | null} open
 */
function useNoteHeight(host, handle, open) {
  useEffect(() => {
    const note = host.current?.firstElementChild;
    if (!note || open === null) return;
    const observer = new ResizeObserver(() => handle.current?.measure());
    observer.observe(note);
    return () => observer.disconnect();
  }, [open]);
}
