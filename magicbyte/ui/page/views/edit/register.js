/** The bar below the editor: the state of the check, curl, the file, and Register. */
import { ApiError } from "../../api/client.js";
import { following } from "../../state/change_feed.js";
import { gapOf, valueOr } from "../../api/fact.js";
import { register } from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { path } from "../../api/encode_url.js";
import { refusesVersions } from "../../state/modes.js";
import { config, may } from "../../state/signals.js";
import { counted } from "../../text/counted.js";
import { originWords } from "../../text/phrases.js";
import { html, useState } from "../../vendor/ui.js";
import { isGone, isStale } from "./draft/base_version.js";
import { bodyOf } from "./draft/drafts.js";
import { Ago, saveAsFile } from "./foot.js";
import { ForceOffer, suggestsForce } from "./force.js";
import { allows } from "./checking.js";
import { latestOf } from "./draft/stored_text.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Draft } from "./draft/drafts.js"
 * @import { Check } from "./places/check.d.ts"
 * @import { Mode, SubjectFacts } from "./meanwhile/subject_facts.js"
 * @typedef {{
 *   subject: string, versions: number[], level: Fact<string>, mode: Fact<Mode>, draft: Draft, check: Check,
 *   equal: number | null, undecided: boolean, reload: () => Promise<SubjectFacts>, onStale: () => Promise<void>,
 *   onRegistered: (answer: any) => Promise<void>, onBusy: (busy: boolean) => void,
 * }} Props  `versions`: the live versions; `onStale` shows the newer version
 */

/** @param {Props} props */
export function Outcome(props) {
  const { subject, versions, draft, check, onRegistered } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {{text: string, of: string, force: boolean} | null} */ (null));
  const next = latestOf(versions) + 1;
  const forbidden = forbiddenBy(props);
  // If nobody may register here, show a sentence instead of the controls.
  const isClosed = refusingMode(props.mode) !== null || config.value.readOnly;
  const reason = busy ? "It is being registered." : reasonOf(props);
  const shown = problem !== null && problem.of === draft.text ? problem : null;
  const send = async (force = false) => {
    const setSending = (/** @type {boolean} */ sending) => (setBusy(sending), props.onBusy(sending));
    setSending(true);
    setProblem(null);
    try {
      if (await showNews(props)) return;
      const options = { ifMatch: draft.base || undefined, normalize: draft.normalize || undefined };
      await onRegistered(await register(subject, bodyOf(draft), { ...options, force: force || undefined }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      setProblem({ text: await problemOf(error, props), of: draft.text, force: suggestsForce(error) });
    } finally {
      setSending(false);
    }
  };
  return html`
    ${shown?.force && forbidden === "" && html`
      <${ForceOffer} subject=${subject} request=${requestOf(subject, draft)} busy=${busy} onForce=${() => send(true)} />
    `}
    <footer class="edit-foot">
      <span class="s dim grow" role="status" tabindex=${shown !== null || check.failure ? 0 : undefined}>
        ${shown !== null ? html`<span class="bad-text">${shown.text}</span>` : html`<${CheckStatus} ...${props} />`}
      </span>
      <${CurlButton} kind="quiet" request=${requestOf(subject, draft)} />
      <${Button} onClick=${() => saveAsFile(subject, next, draft)}>Save as file</${Button}>
      ${forbidden !== "" && html`<span class="s forbidden">${forbidden}</span>`}
      ${!isClosed && html`
        <${Button} id="register" kind="primary" reason=${forbidden || reason}
          onClick=${() => send()}>${isNumbered(props) ? `Register version ${next}` : "Register"}</${Button}>
      `}
    </footer>
  `;
}

/**
 * Whether the page knows the number of the next version. It does not know it without rights, nor after a deletion,
 * because the next version gets a number above the deleted versions.
 * @param {Props} props
 */
const isNumbered = ({ versions, draft, check }) =>
  gapOf(check.failure) === null && (versions.length > 0 || draft.from === null);

/**
 * Shows a newer version, if there is one, instead of registering. Without a change feed, reads the versions first.
 * @param {Props} props
 * @returns {Promise<boolean>}
 */
async function showNews({ draft, versions, reload, onStale }) {
  if (draft.base === 0) return false;
  const now = following.value ? versions : (await reload().catch(() => null))?.versions ?? versions;
  if (latestOf(now) === draft.base) return false;
  if (now.length > 0) await onStale();
  return true;
}

/**
 * The text for a refused registration. Also shows a newer version.
 * @param {ApiError} error
 * @param {Props} props
 */
async function problemOf(error, { draft, check, reload, onStale }) {
  if (error.status !== 409 && error.status !== 412) return `Not registered: ${error.message}`;
  check.again();
  const versions = (await reload().catch(() => null))?.versions;
  const isNew = draft.base > 0 && versions !== undefined && latestOf(versions) !== draft.base;
  if (isNew && versions.length === 0) return "Not registered: the subject was deleted meanwhile.";
  if (isNew || error.status === 412) await onStale();
  return error.status === 412
    ? "Not registered: another version came meanwhile."
    : `Refused: ${error.message.slice(0, 300)}`;
}

/** @param {Props} props */
function CheckStatus({ versions, level, mode, draft, check, equal }) {
  if (gapOf(check.failure) !== null) {
    return html`Not checked: ${check.failure?.message.replace(/\.?$/, ".")} The registry decides when you register.`;
  }
  if (check.failure) {
    return html`Not checked: ${check.failure.message} <${Button} kind="small" onClick=${check.again}>Check again</${Button}>`;
  }
  if (check.invalid) return "The text is no schema yet. The versions are compared as soon as it is one.";
  if (check.checked === null) return "Checking ...";
  if (equal !== null) return `The text says the same as version ${equal}: there is nothing to register.`;
  const latest = latestOf(versions);
  if (isGone(versions, draft)) return "The subject was deleted meanwhile.";
  if (isStale(versions, draft)) {
    return latest > draft.base
      ? `Version ${latest} came meanwhile. Registering shows both texts first.`
      : `Version ${draft.base} was deleted meanwhile. Registering shows both texts first.`;
  }
  const against = versions.length === 0 ? "" : ` against ${counted(versions.length, "version")}`;
  const promise = draft.base > 0 ? ` Registering asks for version ${draft.base} to be the latest still.` : "";
  const gaps = [level.gap !== null && "the level", mode.gap !== null && "the mode"].filter(Boolean);
  const unknown = gaps.length > 0
    ? ` You may not read ${gaps.join(" and ")}: the registry decides when you register.`
    : "";
  return html`Checked <${Ago} at=${check.checked.at} />${against}.${unknown}${promise}`;
}

/** The mode, if it is known and refuses every new version. @param {Fact<Mode>} mode */
export function refusingMode(mode) {
  return mode.gap === null && refusesVersions(mode.value.mode) ? mode.value : null;
}

/**
 * Why the user may not register here; empty if allowed.
 * @param {Props} props
 */
function forbiddenBy({ subject, mode }) {
  const refusing = refusingMode(mode);
  if (refusing) {
    const origin = originWords(refusing.origin);
    return `No new versions: the mode is ${refusing.mode}${origin && `, ${origin}`}.`;
  }
  const { allowed: granted, reason } = may("register", subject);
  return granted ? "" : reason;
}

/**
 * Why this text cannot be registered now; empty if it can.
 * @param {Props} props
 */
function reasonOf({ subject, versions, level, draft, check, equal, undecided }) {
  if (undecided) return "Choose one of the texts above first.";
  if (subject === "") return "The subject has no name yet.";
  if (isGone(versions, draft)) return "The subject was deleted meanwhile: choose to register it anew above.";
  if (check.invalid) return "The text is no schema yet.";
  if (equal !== null) return `Version ${equal} says the same.`;
  // There is no verdict, so the registry decides; the bar says so.
  if (gapOf(check.failure) !== null) return "";
  if (check.failure) return "The text could not be checked.";
  if (check.checking || check.checked === null) return "The text is being checked.";
  const known = valueOr(level, "");
  if (isStale(versions, draft) || allows(check.checked, versions, known)) return "";
  return `${known || "The level"} does not allow it: see ${
    check.checked.plain ? "the registry's words" : "the outlined cells"
  }.`;
}

/**
 * The registration as a request, for curl.
 * @param {string} subject
 * @param {Draft} draft
 */
function requestOf(subject, draft) {
  let body;
  try {
    body = bodyOf(draft);
  } catch {
    body = { schema: draft.text };
  }
  return {
    method: "POST",
    path: path`/subjects/${subject || "SUBJECT"}/versions`,
    query: { normalize: draft.normalize || undefined },
    headers: draft.base ? { "If-Match": String(draft.base) } : {},
    body,
  };
}
