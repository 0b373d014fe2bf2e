/** The head of the proposed text: the number of edits, other drafts, and the actions. */
import { Button } from "../../parts/buttons.js";
import { setQuery } from "../../state/routes.js";
import { counted } from "../../text/counted.js";
import { html } from "../../vendor/ui.js";

/**
 * @import { Draft } from "./draft/drafts.js"
 * @typedef {"" | "references" | "details" | "message"} DialogName
 */

/**
 * @param {{
 *   draft: Draft, edits: number | null, restored: boolean, otherDraft: number | undefined, onRestart: () => void,
 *   onDialog: (name: DialogName) => void, onFormat: () => void,
 * }} props  `restored`: the draft was restored from this tab's storage; `otherDraft`: the version that another draft
 * began with
 */
export function SourceHead({ draft, edits, restored, otherDraft, onRestart, onDialog, onFormat }) {
  return html`
    <div class="ed-head">
      <b>Proposed</b>
      <span class="faint xs">${editWords(edits, draft.from)}</span>
      ${restored && edits !== 0 && html`
        <span class="faint xs">draft of this tab</span>
        <${Button} kind="quiet small" onClick=${onRestart}>Discard</${Button}>
      `}
      ${otherDraft !== undefined && draft.from !== null && !restored && html`
        <${Button} kind="quiet small" onClick=${() => setQuery({ from: otherDraft })}>
          Open the draft since version ${otherDraft}
        </${Button}>
      `}
      <span class="grow"></span>
      <${Button} kind="quiet" onClick=${() => onDialog("message")}>Try a message</${Button}>
      <${Button} kind="quiet" onClick=${() => onDialog("references")}>References ${draft.references.length}</${Button}>
      <${Button} kind="quiet" onClick=${() => onDialog("details")}>Metadata and rules</${Button}>
      <${Button} kind="quiet" onClick=${onFormat}>Format</${Button}>
    </div>
  `;
}

/**
 * @param {number | null} edits
 * @param {number | null} from
 */
function editWords(edits, from) {
  if (from === null || edits === null) return "";
  return edits === 0 ? `as version ${from}` : `${counted(edits, "edit")} since version ${from}`;
}
