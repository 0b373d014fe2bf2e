/** The dialog before a purge: asks for the name, counts the versions, and names the referrers. */
import { heldVersions, holdersOf } from "../../api/holders.js";
import { idVersions, referencedBy } from "../../api/registry.js";
import { askDialog } from "../../parts/dialogs.js";
import { Shown } from "../../parts/hostile.js";
import { qualified } from "../../state/signals.js";
import { html } from "../../vendor/ui.js";
import { counted } from "../../text/counted.js";

/** The most versions, newest first, whose referrers are requested. */
const MOST = 50;

/**
 * @param {string} subject
 * @param {number | null} version  null for the whole subject
 * @param {number[]} versions  the versions to purge
 * @param {number[]} live
 * @returns {Promise<boolean>}
 */
export async function askPurge(subject, version, versions, live) {
  const held = await heldVersions(subject);
  const others = held
    ? holdersOf(held, qualified(subject), version, true)
    : (await referrersOf(subject, versions.filter((number) => live.includes(number)).slice(0, MOST)))
      .filter((referrer) => referrer.subject !== subject || version !== null);
  const count = version === null
    ? `${counted(versions.length, "version")}, ${live.length} of them live`
    : `version ${version}`;
  return await askDialog({
    title: version === null ? `Purge ${subject}?` : `Purge version ${version} of ${subject}?`,
    body: html`
      <p>This removes ${count}, for good. Data that was written with them can no longer be read by their ids.</p>
      ${others.length > 0 && html`
        <p>The registry will refuse it as long as these refer to it:</p>
        <ul class="referrers">
          ${others.map((referrer) =>
            html`<li><b><${Shown} name text=${referrer.subject} /></b> version ${referrer.version}</li>`
          )}
        </ul>
      `}
      ${others.length === 0 && html`<p>No other schema refers to it.</p>`}
    `,
    confirm: "Purge",
    mustType: subject,
    danger: true,
  });
}

/**
 * The versions that refer to live versions, for a registry that only lists referrers by version.
 * @param {string} subject
 * @param {number[]} versions
 * @returns {Promise<{subject: string, version: number}[]>}
 */
async function referrersOf(subject, versions) {
  const ids = new Set((await Promise.all(versions.map((version) => referencedBy(subject, version)))).flat());
  const users = (await Promise.all([...ids].slice(0, MOST).map((id) => idVersions(id)))).flat();
  return users.map(({ subject, version }) => ({ subject, version }));
}
