/** The bar below the editor: what was checked, curl, the file, and Register. */
import { ApiError } from "../../api/client.js";
import { gapOf, valueOr } from "../../api/fact.js";
import { register } from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { CurlButton } from "../../parts/copying.js";
import { path } from "../../state/routes.js";
import { refusesVersions } from "../../state/modes.js";
import { may } from "../../state/signals.js";
import { html, useState } from "../../vendor/ui.js";
import { bodyOf } from "./draft/drafts.js";
import { Ago, saveAsFile } from "./foot.js";
import { allows } from "./checking.js";
import { latestOf } from "./draft/stored_text.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Draft } from "./draft/drafts.js"
 * @import { Check } from "./checking.js"
 * @typedef {{mode: string, origin?: string}} Mode
 * @typedef {{
 *   subject: string, versions: number[], level: Fact<string>, mode: Fact<Mode>, draft: Draft, check: Check,
 *   equal: number | null, undecided: boolean, onStale: () => Promise<void>, onRefused: () => Promise<void>, onRegistered: (answer: any) => Promise<void>,
 * }} Props
 */

const PLACES = {
  subject: "on the subject",
  context: "on the context",
  global: "on the registry",
  server: "by the server",
};

/** @param {Props} props */
export function Outcome(props) {
  const { subject, versions, draft, onStale, onRefused, onRegistered } = props;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(/** @type {{text: string, of: string} | null} */ (null));
  const next = latestOf(versions) + 1;
  const forbidden = forbiddenBy(props);
  const reason = busy ? "It is being registered." : reasonOf(props);
  const send = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const ifMatch = draft.base || undefined;
      await onRegistered(await register(subject, bodyOf(draft), { ifMatch, normalize: draft.normalize || undefined }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 412) await onStale();
      else if (error.status === 409) await onRefused();
      setProblem({ text: problemOf(error), of: draft.text });
    } finally {
      setBusy(false);
    }
  };
  return html`
    <footer class="edit-foot">
      <span class="s dim grow" role="status">
        ${problem !== null && problem.of === draft.text
          ? html`<span class="bad-text">${problem.text}</span>`
          : html`<${Said} ...${props} />`}
      </span>
      <${CurlButton} kind="quiet" request=${requestOf(subject, draft)} />
      <${Button} onClick=${() => saveAsFile(subject, next, draft)}>Save as file</${Button}>
      ${forbidden === ""
        ? html`
          <${Button} id="register" kind="primary" reason=${reason}
            onClick=${send}>${gapOf(props.check.failure) === null ? `Register version ${next}` : "Register"}</${Button}>
        `
        : html`<span class="s forbidden">${forbidden}</span>`}
    </footer>
  `;
}

/** @param {Props} props */
function Said({ versions, level, mode, draft, check, equal }) {
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
  if (latest > draft.base && draft.base > 0) {
    return `Version ${latest} came meanwhile. Registering shows both texts first.`;
  }
  const against = versions.length === 0
    ? ""
    : ` against ${versions.length} ${versions.length === 1 ? "version" : "versions"}`;
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
 * Why nobody may register here; empty if one may.
 * @param {Props} props
 */
function forbiddenBy({ subject, mode }) {
  const refusing = refusingMode(mode);
  if (refusing) {
    const place = /** @type {Record<string, string>} */ (PLACES)[refusing.origin ?? ""];
    return `No new versions: the mode is ${refusing.mode}${place ? `, set ${place}` : ""}.`;
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
  if (check.invalid) return "The text is no schema yet.";
  if (equal !== null) return `Version ${equal} says the same.`;
  // The registry judges what the page cannot: the foot says so.
  if (gapOf(check.failure) !== null) return "";
  if (check.failure) return "The text could not be checked.";
  if (check.checking || check.checked === null) return "The text is being checked.";
  const known = valueOr(level, "");
  if (allows(check.checked, versions, known) || latestOf(versions) > draft.base) return "";
  return `${known || "The level"} does not allow it: see ${
    check.checked.plain ? "the registry's words" : "the outlined cells"
  }.`;
}

/** @param {ApiError} error */
function problemOf(error) {
  if (error.status === 409) return `Refused: ${error.message.slice(0, 300)}`;
  if (error.status === 412) return "Not registered: another version came meanwhile.";
  return `Not registered: ${error.message}`;
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
