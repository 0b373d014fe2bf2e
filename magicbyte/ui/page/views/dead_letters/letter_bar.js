/** Controls for the grouping and the selection of letters. Their state is in the URL. */
import { Button } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { Select } from "../../parts/menus.js";
import { TimeInput } from "../../parts/time_input.js";
import { setQuery } from "../../state/routes.js";
import { html, useState } from "../../vendor/ui.js";
import { timeOf } from "../topics/messages/search_request.js";
import { Shown } from "../../parts/hostile.js";
import { groupingOf, GROUPINGS } from "./letter_request.js";

/** @typedef {import("../../api/types.d.ts").Query} Query */

/** The columns that a condition may use. */
const COLUMNS = "letter_partition letter_offset letter_time fingerprint replays topic partition offset timestamp " +
  "pipeline stage exception reason schema_id schema_guid subject attempt batch quality";
const EXAMPLES = ["stage = 'TASK_PUT'", "reason LIKE '%magic byte%'", "schema_id = 7 AND replays = 0"];
/** @type {[string, string][]} */
const REPLAYED = [["", "replayed or not"], ["false", "not replayed"], ["true", "replayed"]];

/** Shows other letters and clears the picks, which may not be among them. @param {Query} patch */
const show = (patch) => setQuery({ pick: null, ...patch }, { replace: false });

/** @param {{query: Record<string, string>, wanted: import("../../api/dead_letters.js").LetterRequest}} props */
export function LetterBar({ query, wanted }) {
  return html`
    <div class="letter-bar">
      <label class="row s dim"><span>by</span><${Select} label="Group letters by" value=${groupingOf(query)}
        options=${GROUPINGS} onChange=${(/** @type {string} */ by) =>
          show({ by: by === "reason" ? null : by, group: null })} /></label>
      <${Select} label="Which letters" value=${query.replayed ?? ""} options=${REPLAYED}
        onChange=${(/** @type {string} */ replayed) => show({ replayed })} />
      <${TimeInput} label="from" at=${timeOf(query.since)} onTime=${(/** @type {string | null} */ since) =>
        show({ since })} />
      <${TimeInput} label="to" at=${timeOf(query.until)} onTime=${(/** @type {string | null} */ until) =>
        show({ until })} />
      <span class="grow"></span>
      <${CurlButton} kind="quiet" request=${{ method: "POST", path: "/dead-letters", base: "ui", body: wanted }} />
    </div>
    <${Condition} key=${query.where ?? ""} where=${query.where ?? ""} />
    ${query.group && html`
      <p class="row wrap s group-chosen"><span class="dim">Only the group</span>
        <span class="mono anywhere"><${Shown} name text=${query.group} /></span>
        <${Button} kind="small" onClick=${() => show({ group: null })}>All groups</${Button}></p>
    `}
  `;
}

/** @param {{where: string}} props */
function Condition({ where }) {
  const [text, setText] = useState(where);
  const put = (/** @type {string} */ value) => show({ where: value.trim() });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    put(text);
  };
  return html`
    <form class="row condition-form" role="search" aria-label="Letters" onSubmit=${submit}>
      <input class="input mono grow" type="search" aria-label="Condition" autocomplete="off" spellcheck=${false}
        placeholder="stage = 'TASK_PUT'" value=${text}
        onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
      <${Button} type="submit">Filter</${Button}>
      ${where && html`<${Button} kind="quiet" onClick=${() => put("")}>Clear</${Button}>`}
    </form>
    <details class="condition-help s">
      <summary class="dim">What a condition may have</summary>
      <p class="dim">A condition of SQLite, as <span class="mono">--where</span> of the command takes it, on these columns:</p>
      <p class="mono anywhere">${COLUMNS}</p>
      <p class="dim">${EXAMPLES.map((text) => html`<code key=${text} class="mono">${text}</code>`)}</p>
    </details>
  `;
}
