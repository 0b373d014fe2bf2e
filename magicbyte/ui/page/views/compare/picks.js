/** Chooses the two versions of a comparison: any version of any subject on each side. */

import * as registry from "../../api/registry.js";
import { Icon } from "../../parts/icon.js";
import { Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { goTo, href } from "../../state/routes.js";
import { overview } from "../../state/signals.js";
import { html, useId, useRef, useState } from "../../vendor/ui.js";
import { allVersions } from "../../api/subject_versions.js";
import { capital } from "./words.js";

/** @typedef {{subject: string, version: number}} Pick One side. */
/** @typedef {{subject: string, version: number, id: number | null, ts: number | null, latest: boolean, deleted: boolean}} Picked */

/**
 * The address of a comparison.
 * @param {Pick} from
 * @param {Pick} to
 * @param {Record<string, string>} [query] the view's other parameters
 */
function compareHref(from, to, query = {}) {
  return href(path`/subjects/${to.subject}/compare`, compareQuery(from, to, query));
}

/** @param {Pick} from @param {Pick} to @param {Record<string, string>} query */
function compareQuery(from, to, { view = "", all = "" } = {}) {
  const fromSubject = from.subject === to.subject ? "" : from.subject;
  return { from: from.version, to: to.version, fromSubject, view, all };
}

/** @param {{from: Picked, to: Picked, query: Record<string, string>}} props */
export function Picks({ from, to, query }) {
  return html`
    <div class="picks">
      <${VersionPick} picked=${from} label="Old side" page=${to.subject}
        address=${(/** @type {Pick} */ pick) => compareHref(pick, to, query)} />
      <a class="btn quiet icon swap" href=${compareHref(to, from, query)} aria-label="Swap the sides"
        title="Swap the sides"><${Icon} name="swap" size=${15} /></a>
      <${VersionPick} picked=${to} label="New side" page=${to.subject}
        address=${(/** @type {Pick} */ pick) => compareHref(from, pick, query)} />
    </div>
  `;
}

/**
 * @param {{picked: Picked, label: string, page: string, address: (pick: Pick) => string}} props
 */
function VersionPick({ picked, label, page, address }) {
  const id = useId();
  const popover = useRef(/** @type {HTMLElement | null} */ (null));
  const [versions, setVersions] = useState(
    /** @type {import("../../api/subject_versions.js").Entry[] | null} */ (null),
  );
  const [failure, setFailure] = useState("");
  const load = async () => {
    try {
      setVersions(await allVersions(picked.subject));
    } catch (error) {
      setFailure(/** @type {Error} */ (error).message);
    }
  };
  /** @param {ToggleEvent} event */
  const onToggle = (event) => {
    if (event.newState !== "open") return;
    place(popover.current, id);
    if (versions === null) load();
  };
  return html`
    <span class="pick-side">
      <button type="button" class="pick" id=${id}
        popovertarget=${id +
          "-list"}><span class="hidden-text">${label}: </span>
          ${picked.subject !== page && html`<span class="mono cut ends">${picked.subject}</span>`}
          <b>Version ${picked.version}</b><span class="faint cut"><${PickedDetail} picked=${picked} /></span>
          <${Icon} name="down" size=${12} />
        </button>
      <div class="menu pick-menu" popover id=${id + "-list"} ref=${popover} onToggle=${onToggle}>
          <p class="caption">${label}: <span class="mono">${picked.subject}</span></p>
          ${failure && html`<p class="caption">${failure}</p>`}
          ${!versions && !failure && html`<p class="caption">Reading the versions</p>`}
          ${versions?.map((entry) =>
            html`
              <a href=${address(entry)} aria-current=${entry.version === picked.version ? "true" : undefined}
                onClick=${() => popover.current?.hidePopover()} key=${entry.version}>
                <span class=${entry.deleted ? "struck" : ""}>Version ${entry.version}</span>
                <span class="faint xs grow">id ${entry.id}${entry.latest && ", latest"}${entry.deleted &&
                  ", deleted"}</span>
                <span class="faint xs"><${Time} ms=${entry.ts} /></span>
              </a>
            `
          )}
          <hr />
          <${OtherSubject} id=${id + "-subject"} address=${address} done=${() => popover.current?.hidePopover()} />
        </div>
    </span>
  `;
}

/** @param {{picked: Picked}} props */
function PickedDetail({ picked }) {
  const { id, ts, latest, deleted } = picked;
  const parts = [];
  if (id !== null) parts.push(`id ${id}`);
  if (deleted) parts.push("deleted");
  if (latest) parts.push("latest");
  return html`${parts.join(", ")}${!latest && ts ? html`, <${Time} ms=${ts} />` : ""}`;
}

/** @param {{id: string, address: (pick: Pick) => string, done: () => void}} props */
function OtherSubject({ id, address, done }) {
  const [failure, setFailure] = useState("");
  const names = overview.value?.subject ?? [];
  /** @param {SubmitEvent} event */
  const onSubmit = async (event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    const subject = String(new FormData(form).get("subject") ?? "").trim();
    if (!subject) return;
    try {
      const latest = await registry.version(subject, "latest");
      done();
      goTo(address({ subject, version: latest.version }));
    } catch (error) {
      setFailure(capital(/** @type {Error} */ (error).message));
    }
  };
  return html`<form class="other-subject" onSubmit=${onSubmit}>
    <label class="caption" for=${id}>The latest version of another subject</label>
    <div class="row">
      <input class="input mono" id=${id} name="subject" list=${id + "-names"} autocomplete="off" spellcheck=${false} />
      <button class="btn small">Take it</button>
    </div>
    <datalist id=${id + "-names"}>
      ${names.slice(0, 500).map((name) => html`<option value=${name} key=${name} />`)}
    </datalist>
    ${failure && html`<p class="caption" role="alert">${failure}</p>`}
  </form>`;
}

/** Puts an open popover under its button. @param {HTMLElement | null} popover @param {string} buttonId */
function place(popover, buttonId) {
  const button = document.getElementById(buttonId);
  if (!popover || !button) return;
  const { left, bottom } = button.getBoundingClientRect();
  const room = document.documentElement.clientWidth - popover.offsetWidth - 8;
  popover.style.left = `${Math.max(8, Math.min(left, room))}px`;
  popover.style.top = `${bottom + 4}px`;
}
