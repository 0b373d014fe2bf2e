/** Dialogs: the native element; closing restores the focus. */
import { html, signal, useId, useLayoutEffect, useRef, useState } from "../vendor/ui.js";
import { Button } from "./buttons.js";

/**
 * A modal dialog. It is open as long as it is rendered.
 * @param {{title: any, onClose: () => void, wide?: boolean, children?: any, class?: string}} props
 */
export function Dialog({ title, onClose, wide = false, children, class: more = "" }) {
  const box = useRef(/** @type {any} */ (null));
  const id = useId();
  // Open before the next key press, so that the key goes into the dialog.
  useLayoutEffect(() => {
    const before = focused();
    const dialog = box.current;
    dialog.showModal();
    return () => {
      // Close first: elements behind an open dialog cannot take the focus.
      dialog.close();
      before?.isConnected && before.focus();
    };
  }, []);
  const outside = (/** @type {any} */ event) => event.target === box.current && onClose();
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  };
  return html`
    <dialog
      class="dialog ${wide ? "wide" : ""} ${more}"
      ref=${box}
      aria-labelledby=${id}
      onCancel=${cancel}
      onMouseDown=${outside}
    >
      <div class="inside"><h2 id=${id}>${title}</h2>${children}</div>
    </dialog>
  `;
}

/** The focused element, also inside a shadow root such as the editor's. */
function focused() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return /** @type {HTMLElement | null} */ (element);
}

/**
 * @typedef {{title: any, body?: any, confirm: string, mustType?: string, danger?: boolean,
 *   input?: {label: string, type?: string, value?: string}}} Question
 * @type {import("../vendor/ui.js").Signal<(Question & {answer: (value: any) => void}) | null>}
 */
const question = signal(null);

/**
 * Asks a question. Resolves true or the input's text if the user confirms, else false.
 * @param {Question} asked `mustType` is the text to type before the button works
 * @returns {Promise<any>}
 */
export function askDialog(asked) {
  question.peek()?.answer(false);
  return new Promise((resolve) => {
    question.value = {
      ...asked,
      answer: (value) => {
        question.value = null;
        resolve(value);
      },
    };
  });
}

/** Shows the question that `askDialog` asks; rendered once by app.js. */
export function Questions() {
  const asked = question.value;
  return asked && html`<${QuestionDialog} key=${asked.title} asked=${asked} />`;
}

/** @param {{asked: Question & {answer: (value: any) => void}}} props */
function QuestionDialog({ asked }) {
  const [typed, setTyped] = useState(asked.input?.value ?? "");
  const id = useId();
  const ready = (asked.mustType === undefined || typed === asked.mustType) && (!asked.input || typed !== "");
  const needsText = asked.mustType !== undefined || asked.input;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (ready) asked.answer(asked.input ? typed : true);
  };
  const kind = asked.danger ? "primary danger" : "primary";
  return html`
    <${Dialog} title=${asked.title} onClose=${() => asked.answer(false)}>
      <form class="stack" onSubmit=${submit}>
          ${asked.body && html`<div class="dim s stack anywhere">${asked.body}</div>`}
          ${needsText && html`
            <div class="field">
              <label for=${id}>${asked.input?.label ??
                html`Type <span class="mono">${asked.mustType}</span> to confirm`}</label>
              <input
                class="input mono"
                id=${id}
                type=${asked.input?.type ?? "text"}
                autocomplete="off"
                spellcheck=${false}
                autofocus
                value=${typed}
                onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)}
              />
            </div>
          `}
          <div class="foot">
            <${Button} onClick=${() => asked.answer(false)}>Cancel</${Button}>
            <${Button} kind=${kind} type="submit" disabled=${!ready}>${asked.confirm}</${Button}>
          </div>
        </form>
      </${Dialog}>
  `;
}
