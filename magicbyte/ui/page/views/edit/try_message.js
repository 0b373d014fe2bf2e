/** A dialog that encodes a message with the text in the editor, and shows success or the error with its position. */
import { ApiError } from "../../api/client.js";
import { printJson } from "../../api/json.js";
import { encode, example } from "../../api/serdes.js";
import { isMissingRoute } from "../../api/transport.js";
import { VerdictBadge } from "../../parts/badges.js";
import { Button } from "../../parts/buttons.js";
import { Dialog } from "../../parts/dialogs.js";
import { Shown } from "../../parts/hostile.js";
import { Select } from "../../parts/menus.js";
import { useRequest } from "../../parts/use_request.js";
import { counted } from "../../text/counted.js";
import { Lines } from "../../text/positions.js";
import { html, useEffect, useId, useRef, useState } from "../../vendor/ui.js";
import { messageNames } from "./draft/message_names.js";
import { unitsOf } from "./places/edits.js";

/** A try starts after this pause between keys, in ms. */
const PAUSE = 250;
const NO_HELPERS = "This server cannot try messages: it does not have the page's helpers (/ui/encode, /ui/example).";

/**
 * @import { Draft } from "./draft/drafts.js"
 * @import { CodecRequest } from "../../api/serdes.js"
 * @typedef {{ok: boolean, words: string, at: number | null}} EncodeResult  `at`: the offset in the message, in UTF-16 units
 */

/** @param {{subject: string, draft: Draft, onClose: () => void}} props */
export function TryMessage({ subject, draft, onClose }) {
  const id = useId();
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const names = draft.type === "PROTOBUF" ? messageNames(draft.text) : [];
  const [message, setMessage] = useState(names[0] ?? "");
  const wanted = wantedOf(subject, draft, message);
  const made = useRequest((signal) => example(wanted, { signal }), [wanted]);
  const proposed = made.data?.value === undefined ? "" : printJson(made.data.value, 2);
  const text = typed ?? proposed;
  const isMissing = made.error !== null && isMissingRoute(made.error);
  const tried = useTried(isMissing ? "" : text, wanted);
  const problem = isMissing ? NO_HELPERS : made.error?.message ?? made.data?.error;
  const goTo = (/** @type {number} */ at) => {
    area.current?.focus();
    area.current?.setSelectionRange(at, Math.min(text.length, at + 1));
  };
  return html`
    <${Dialog} title="A message of the proposed schema" wide onClose=${onClose}>
      <div class="stack">
        ${names.length > 1 && html`
          <div class="row wrap s">
            <span class="dim" aria-hidden="true">Message of the schema</span>
            <${Select} label="Message of the schema" mono value=${message} options=${names} onChange=${setMessage} />
          </div>
        `}
        <div class="field">
          <label for=${id}>Message <span class="faint xs">as JSON</span></label>
          <textarea id=${id} ref=${area} class="area" rows="10" spellcheck=${false} value=${text} disabled=${isMissing}
            aria-describedby=${`${id}-tried`}
            onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)}></textarea>
        </div>
        <p class="row wrap s" id=${`${id}-tried`} role="status">
          ${tried === null
            ? html`<span class="dim anywhere">${problem ?? "Whether the message is valid is told here."}</span>`
            : html`<${Verdict} tried=${tried} text=${text} onGo=${goTo} />`}
        </p>
        <div class="foot">
          <${Button} kind="quiet" disabled=${proposed === ""} reason=${made.loading ? "" : problem ?? ""}
            onClick=${() => setTyped(null)}>Example</${Button}>
          <span class="grow"></span>
          <${Button} onClick=${onClose}>Close</${Button}>
        </div>
      </div>
    </${Dialog}>
  `;
}

/** @param {{tried: EncodeResult, text: string, onGo: (at: number) => void}} props */
function Verdict({ tried: { ok, words, at }, text, onGo }) {
  const place = at === null ? null : new Lines(text).placeOf(at);
  return html`
    <${VerdictBadge} ok=${ok} text=${ok ? "valid" : "not valid"} />
    ${place && html`
      <${Button} kind="small" label=${`Go to line ${place.line}, column ${place.column}`}
        onClick=${() => onGo(/** @type {number} */ (at))}><span class="mono num">${place.line}:${place
          .column}</span></${Button}>
    `}
    <span class="anywhere"><${Shown} text=${words} /></span>
  `;
}

/**
 * @param {string} subject
 * @param {Draft} draft
 * @param {string} message  the message of a Protobuf schema; empty for its first message
 * @returns {CodecRequest}
 */
function wantedOf(subject, { text, type, references }, message) {
  return {
    ...(subject ? { subject } : {}),
    ...(message ? { message } : {}),
    proposal: { schema: text, schemaType: type, references },
  };
}

/**
 * Encodes a message after a pause between keys.
 * @param {string} text
 * @param {CodecRequest} wanted
 */
function useTried(text, wanted) {
  const [tried, setTried] = useState(/** @type {EncodeResult | null} */ (null));
  useEffect(() => {
    if (text.trim() === "") return setTried(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      encode(text, wanted, { signal: abort.signal }).then(
        (answer) => resultOf(answer, text),
        (error) => failureOf(error, text),
      ).then((result) => {
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

/**
 * @param {Awaited<ReturnType<typeof encode>>} answer
 * @param {string} text
 * @returns {EncodeResult}
 */
function resultOf({ error, path, at = null, data }, text) {
  if (error === undefined) {
    const bytes = atob(data ?? "").length;
    return { ok: true, words: `It takes ${counted(bytes, "byte")}.`, at: null };
  }
  const words = path ? `${path}: ${error}` : error;
  return { ok: false, words, at: at === null ? null : unitsOf(text)(at) };
}

/**
 * @param {Error} error
 * @param {string} text
 * @returns {EncodeResult}
 */
function failureOf(error, text) {
  if (!(error instanceof SyntaxError)) {
    return {
      ok: false,
      words: error instanceof ApiError && isMissingRoute(error) ? NO_HELPERS : error.message,
      at: null,
    };
  }
  const at = Number(error.message.match(/position (\d+)/)?.[1] ?? text.length);
  return { ok: false, words: `It is not JSON: ${error.message.replace(/ \(line.*| in JSON.*/, "")}`, at };
}
