/** An input that commits its text on blur or Enter. Uncommitted text survives renders of the page. */
import { html, useState } from "../vendor/ui.js";

/** @param {{value: string, onCommit: (value: string) => void, class?: string, [attribute: string]: any}} props */
export function CommittedInput({ value, onCommit, class: more = "", ...rest }) {
  const [text, setText] = useState(value);
  const [last, setLast] = useState(value);
  // The Back button changes the value; take it over as the text.
  if (value !== last) {
    setLast(value);
    setText(value);
  }
  return html`
    <input class="input ${more}" autocomplete="off" spellcheck=${false} ...${rest} value=${text}
      onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}
      onChange=${() => onCommit(text.trim())} />
  `;
}
