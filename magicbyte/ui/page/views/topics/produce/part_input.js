/** The input for the key or value of a record to produce: with the subject's schema, as a text, or none. */
import { gapFact } from "../../../api/fact.js";
import * as registry from "../../../api/registry.js";
import { bytesOf, encode, example } from "../../../api/serdes.js";
import { Button, LinkButton, Segmented } from "../../../parts/buttons.js";
import { GapBadge, visibly } from "../../../parts/gap.js";
import { Shown } from "../../../parts/hostile.js";
import { Icon } from "../../../parts/icon.js";
import { Select } from "../../../parts/menus.js";
import { useRequest } from "../../../parts/use_request.js";
import { href } from "../../../state/routes.js";
import { may } from "../../../state/signals.js";
import { plainText, toBase64 } from "../../../text/bytes.js";
import { Lines } from "../../../text/positions.js";
import { counted } from "../../../text/counted.js";
import { html, useEffect, useRef, useState } from "../../../vendor/ui.js";
import { textOf } from "../messages/value_text.js";

/** @typedef {{bytes: string | null, problem: string}} Written the bytes in base64 or null, and the problem, if any */
/** @typedef {import("../../../api/serdes.js").Decoded} Decoded */
/** @typedef {{bytes: string | null, decoded?: Decoded}} Before */

const PAUSE_MS = 250;

/**
 * The mode in which the part was written before, or the usual mode.
 * @param {string} subject
 * @param {Before | null} before
 * @param {"key" | "value"} part
 */
function modeOf(subject, before, part) {
  if (before?.bytes === null) return "none";
  if (before) return before.decoded?.error === undefined && before.decoded?.schemaId !== undefined ? "schema" : "text";
  return subject ? "schema" : part === "key" ? "none" : "text";
}

/** @param {{part: "key" | "value", topic: string, subject: string, before: Before | null, onChange: (written: Written) => void}} props */
export function PartInput({ part, topic, subject, before, onChange }) {
  const [mode, setMode] = useState(() => modeOf(subject, before, part));
  const name = part === "key" ? "Key" : "Value";
  const nothing = part === "key" ? "no key" : "tombstone";
  const hasSchema = subject || before?.decoded?.schemaId !== undefined;
  const options = /** @type {[string, string][]} */ ([...(hasSchema ? [["schema", "schema"]] : []), ["text", "text"], [
    "none",
    nothing,
  ]]);
  return html`<section class="card part-input" aria-label=${name}>
    <header><h2>${name}</h2><span class="grow"></span><${Segmented} label="${name} is" options=${options} value=${mode} onChange=${setMode} /></header>
    ${
    mode === "schema" &&
    html`<${WithSchema} part=${part} topic=${topic} subject=${subject} before=${before} onChange=${onChange} />`
  }
    ${mode === "text" && html`<${AsText} name=${name} before=${before} onChange=${onChange} />`}
    ${mode === "none" && html`<${NullPart} part=${part} onChange=${onChange} />`}
    ${
    !subject && mode !== "none" && html`
      <footer
        class="row wrap"><span class="grow">No subject <span class="mono"><${Shown} text=${`${topic}-${part}`} /></span>${visibly()}.</span>
            <${LinkButton} kind="small" href=${href("/new", { topic, part })} reason=${may(
              "register",
              `${topic}-${part}`,
            ).reason}>Set a schema</${LinkButton}></footer>
    `
  }
  </section>`;
}

/** @param {{part: string, onChange: (written: Written) => void}} props */
function NullPart({ part, onChange }) {
  useEffect(() => onChange({ bytes: null, problem: "" }), []);
  return html`<p class="body dim s">${
    part === "key"
      ? "The record has no key."
      : "The value is null: in a compacted topic it deletes what has the same key."
  }</p>`;
}

/** @param {{name: string, before: Before | null, onChange: (written: Written) => void}} props */
function AsText({ name, before, onChange }) {
  const [text, setText] = useState(() => before?.bytes ? plainText(bytesOf(before.bytes))?.text ?? "" : "");
  useEffect(() => onChange({ bytes: toBase64(new TextEncoder().encode(text)), problem: "" }), [text]);
  return html`
    <div class="body">
      <textarea class="area" aria-label=${name} rows=${name === "Key" ? 2 : 8} spellcheck=${false} value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea>
    </div>
  `;
}

/**
 * @param {{part: "key" | "value", topic: string, subject: string, before: Before | null, onChange: (written: Written) => void}} props
 */
function WithSchema({ part, topic, subject, before, onChange }) {
  const earlier = before?.decoded?.schemaId;
  const versions = useRequest(subject ? (signal) => registry.versions(subject, { signal }) : null, [subject]);
  const [version, setVersion] = useState(earlier === undefined ? "latest" : `id ${earlier}`);
  const [unions, setUnions] = useState("plain");
  const [text, setText] = useState(earlier === undefined ? "" : textOf(before?.decoded?.value, 2));
  const isEdited = useRef(earlier !== undefined);
  const wanted = {
    topic,
    isKey: part === "key",
    unions,
    ...(version.startsWith("id ") ? { schemaId: Number(version.slice(3)) } : { subject, version }),
  };
  const made = useRequest(
    version.startsWith("id ") ? null : (signal) => example(wanted, { signal }),
    [subject, version, unions],
  );
  useEffect(() => {
    if (made.data?.value === undefined || isEdited.current) return;
    if (made.data.unions && made.data.unions !== unions) setUnions(made.data.unions);
    setText(textOf(made.data.value, 2));
  }, [made.data]);
  const checked = useChecked(text, wanted, [version, unions]);
  useEffect(() => onChange(writtenOf(checked)), [checked]);
  const edit = (/** @type {any} */ event) => {
    isEdited.current = true;
    setText(event.currentTarget.value);
  };
  const fillIn = () => {
    isEdited.current = false;
    if (made.data?.value !== undefined) setText(textOf(made.data.value, 2));
  };
  const choices = [
    ...(earlier === undefined ? [] : [[`id ${earlier}`, `id ${earlier}, as before`]]),
    ...(subject ? [["latest", "latest version"]] : []),
    ...(versions.data ?? []).toReversed().map((/** @type {number} */ number) => [String(number), `version ${number}`]),
  ];
  const type = checked.answer?.type ?? made.data?.type;
  return html`
    <div class="body stack">
      <div class="row wrap">
          <${Select} label="Schema of the ${part}" value=${version} options=${choices} onChange=${setVersion} />
          ${versions.error && html`<${GapBadge} fact=${gapFact(versions.error)} name="versions" />`}
          ${type === "AVRO" &&
            html`<${Segmented} label="Unions of the ${part}" options=${[["plain", "plain unions"], [
              "tagged",
              "tagged",
            ]]} value=${unions} onChange=${setUnions} />`}
          <span class="grow"></span>
          <${Button} kind="quiet small" reason=${made.data?.error ?? ""} onClick=${fillIn}>Example</${Button}>
        </div>
        <textarea class="area" aria-label=${`${
          part === "key" ? "Key" : "Value"
        } as JSON`} aria-describedby="checked-${part}" rows=${part === "key"
          ? 4
          : 14} spellcheck=${false} value=${text} onInput=${edit}></textarea>
        <div class="checked s" id="checked-${part}" role="status"><${Verdict} checked=${checked} text=${text} failed=${made
          .error ?? (made.data?.error && made.data)} /></div>
      </div>
  `;
}

/** @typedef {{answer: (Decoded & {data?: string}) | null, problem: string, at: number | null, waiting: boolean}} Checked */

/**
 * Checks the text after a pause.
 * @param {string} text
 * @param {import("../../../api/serdes.js").CodecRequest} wanted
 * @param {any[]} inputs
 * @returns {Checked}
 */
function useChecked(text, wanted, inputs) {
  const [checked, setChecked] = useState(
    /** @type {Checked} */ ({ answer: null, problem: "", at: null, waiting: true }),
  );
  useEffect(() => {
    if (text.trim() === "") {
      setChecked({ answer: null, problem: "there is no text yet", at: null, waiting: false });
      return;
    }
    const controller = new AbortController();
    setChecked((before) => ({ ...before, waiting: true }));
    const timer = setTimeout(async () => {
      try {
        const answer = await encode(text, wanted, { signal: controller.signal });
        const { error = "", path = "", at = null } = answer;
        const problem = error && (path ? `${path}: ${error}` : error);
        if (!controller.signal.aborted) setChecked({ answer, problem, at, waiting: false });
      } catch (error) {
        if (controller.signal.aborted) return;
        const { message } = /** @type {Error} */ (error);
        const at = error instanceof SyntaxError ? Number(message.match(/position (\d+)/)?.[1] ?? text.length) : null;
        const problem = error instanceof SyntaxError
          ? `it is not JSON: ${message.replace(/ \(line.*| in JSON.*/, "")}`
          : message;
        setChecked({ answer: null, problem, at, waiting: false });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text, ...inputs]);
  return checked;
}

/** @param {Checked} checked @returns {Written} */
const writtenOf = ({ answer, problem, waiting }) =>
  waiting
    ? { bytes: null, problem: "is being checked" }
    : { bytes: answer?.data ?? null, problem: problem || (answer?.data ? "" : "is not checked") };

/** @param {{checked: Checked, text: string, failed: any}} props */
function Verdict({ checked: { answer, problem, at: offset, waiting }, text, failed }) {
  if (failed && !text) {
    return html`<span class="bad-text anywhere">✕ <${Shown} text=${failed.message ?? failed.error} /></span>`;
  }
  if (waiting && !answer && !problem) return html`<span class="faint">Checking.</span>`;
  if (problem) {
    const place = offset === null ? null : new Lines(text).placeOf(offset);
    const at = place ? `${place.line}:${place.column} ` : "";
    return html`<span class="bad-text anywhere">✕ <span class="mono num">${at}</span><${Shown} text=${problem} /></span>`;
  }
  const size = bytesOf(answer?.data ?? null).length;
  return html`
    <span
      class="ok-text row wrap"><${Icon} name="check" size=${12} /><span class="num">${counted(
        size,
        "byte",
      )} with id ${answer?.schemaId}${answer?.version ? `, v${answer.version}` : ""}</span></span>
  `;
}
