/** A dialog that tries one message against the text in the editor. */
import { printJson } from "../../api/json.js";
import { encode, example } from "../../api/serdes.js";
import { VerdictBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Dialog } from "../../parts/dialogs.js";
import { useRequest } from "../../parts/use_request.js";
import { html, useEffect, useId, useState } from "../../vendor/ui.js";

/** How long one pauses before a message is tried, in ms. */
const PAUSE = 250;

/**
 * @import { Draft } from "./draft/drafts.js"
 * @import { Wanted } from "../../api/serdes.js"
 */

/** @param {{subject: string, draft: Draft, onClose: () => void}} props */
export function TryMessage({ subject, draft, onClose }) {
  const id = useId();
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const wanted = wantedOf(subject, draft);
  const first = useRequest((signal) => example(wanted, { signal }), [wanted]);
  const text = typed ?? (first.data?.value === undefined ? "" : printJson(first.data.value, 2));
  const tried = useTried(text, wanted);
  const problem = first.error?.message ?? first.data?.error;
  return html`
    <${Dialog} title="A message of the proposed schema" wide onClose=${onClose}>
      <div class="stack">
        <div class="field">
          <label for=${id}>Message <span class="faint xs">as JSON</span></label>
          <textarea id=${id} class="area" rows="10" spellcheck=${false} value=${text}
            onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)}></textarea>
        </div>
        <p class="row wrap s" role="status">
          ${tried === null
            ? html`<span class="dim anywhere">${problem ?? "Whether the message is valid is told here."}</span>`
            : html`
              <${VerdictBadge} ok=${tried.ok} text=${tried.ok ? "valid" : "not valid"} />
              <span class="anywhere">${tried.words}</span>
            `}
        </p>
        <div class="foot">
          <${Button} onClick=${onClose}>Close</${Button}></div>
      </div>
    </${Dialog}>
  `;
}

/** @param {string} subject @param {Draft} draft @returns {Wanted} */
function wantedOf(subject, { text, type, references }) {
  return { ...(subject ? { subject } : {}), proposal: { schema: text, schemaType: type, references } };
}

/**
 * Tries a message after a pause.
 * @param {string} text
 * @param {Wanted} wanted
 */
function useTried(text, wanted) {
  const [tried, setTried] = useState(/** @type {{ok: boolean, words: string} | null} */ (null));
  useEffect(() => {
    if (text.trim() === "") return setTried(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      encode(text, wanted, { signal: abort.signal }).then(wordsOf, failed).then((result) => {
        if (!abort.signal.aborted) setTried(result);
      });
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [text, printJson(wanted)]);
  return tried;
}

/** @param {Awaited<ReturnType<typeof encode>>} answer */
function wordsOf({ error, path, data }) {
  if (error !== undefined) return { ok: false, words: path ? `${path}: ${error}` : error };
  const bytes = atob(data ?? "").length;
  return { ok: true, words: `It takes ${bytes} bytes.` };
}

/** @param {Error} error */
function failed(error) {
  return { ok: false, words: error.message };
}
