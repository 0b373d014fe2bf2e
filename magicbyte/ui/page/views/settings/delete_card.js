/** Deletion: soft with Undo, restoring with Undelete, and permanent after a dialog. */
import { valueOr } from "../../api/fact.js";
import { HELD_BY_NONE, heldVersions, holdersOf } from "../../api/holders.js";
import * as registry from "../../api/registry.js";
import { Button } from "../../parts/buttons.js";
import { Card } from "../../parts/cards.js";
import { GapPart } from "../../parts/gap.js";
import { toast } from "../../parts/toasts.js";
import { useRequest } from "../../parts/use_request.js";
import { path } from "../../api/encode_url.js";
import { go, href } from "../../state/routes.js";
import { changes, qualified } from "../../state/signals.js";
import { counted, numbered } from "../../text/counted.js";
import { html } from "../../vendor/ui.js";
import { HeldBy, heldReason } from "../subject/held_by.js";
import { askPurge } from "./purge.js";
import { sent } from "./send.js";
import { writeReason } from "./write_reason.js";

/**
 * @import { Fact } from "../../api/fact.js"
 * @import { Holder } from "../../api/holders.js"
 */

/**
 * @param {{subject: string, mode: Fact<{mode: string}>, live: Fact<number[]>, deleted: number[], onChanged: () => void}} props
 */
export function DeleteCard({ subject, mode, live, deleted, onChanged }) {
  const title = "Versions and deletion";
  if (live.gap !== null) {
    return html`
      <${Card} title=${title} aria-label=${title}>
        <${GapPart} fact=${live} />
        </${Card}>
    `;
  }
  return html`
    <${Deletion} subject=${subject} mode=${valueOr(mode, { mode: "" }).mode} live=${live.value} deleted=${deleted}
      onChanged=${onChanged} />
  `;
}

/** @param {{subject: string, mode: string, live: number[], deleted: number[], onChanged: () => void}} props */
function Deletion({ subject, mode, live, deleted, onChanged }) {
  const all = [...live, ...deleted].sort((one, other) => other - one);
  const held = useHeld(subject, all);
  const holders = (/** @type {number | null} */ version, /** @type {boolean} */ permanent) =>
    holdersOf(held, qualified(subject), version, permanent);
  const ofSubject = holders(null, live.length === 0);
  const restore = (/** @type {number[]} */ versions) =>
    sent(async () => {
      for (const version of versions) await registry.undelete(subject, version);
    }, () => {
      const words = versions.length === 1 ? `Version ${versions[0]}` : counted(versions.length, "version");
      toast(`${words} ${numbered(versions.length, "is", "are")} live again.`);
      onChanged();
    });
  const remove = (/** @type {number | null} */ version) =>
    sent(
      async () =>
        version === null ? await registry.deleteSubject(subject) : [await registry.deleteVersion(subject, version)],
      (versions) => {
        const words = version === null ? `${subject} is deleted.` : `Version ${version} is deleted.`;
        toast(words, { action: { label: "Undo", onClick: () => restore(versions.map(Number)) } });
        onChanged();
      },
    );
  const purge = async (/** @type {number | null} */ version) => {
    const versions = version === null ? all : [version];
    if (!await askPurge(subject, version, versions, live)) return;
    sent(() => purged(subject, version, live), () => {
      toast(version === null ? `${subject} is gone for good.` : `Version ${version} is gone for good.`);
      if (versions.length === all.length) go("/subjects");
      else onChanged();
    });
  };
  return html`
    <${Card} title="Versions and deletion" aria-label="Versions and deletion" bare>
      <ul class="versions">
        ${all.map((version) =>
          html`
            <${VersionRow} key=${version} subject=${subject} mode=${mode} version=${version} isDeleted=${deleted
              .includes(version)}
              holders=${holders(version, deleted.includes(version))} cut=${held.cut}
              onDelete=${() => remove(version)} onRestore=${() => restore([version])} onPurge=${() => purge(version)} />
          `
        )}
      </ul>
      <div class="delete-foot">
        ${ofSubject.length > 0 && html`
          <p class="s grow">
            <${HeldBy} holders=${ofSubject} cut=${held.cut} />
          </p>
        `}
        <p class="s dim grow">
          Deleted versions keep their ids: consumers still read old data. Purged ones are gone, and so is the way to read it.
        </p>
        ${live.length > 0 &&
          html`
            <${Button} reason=${writeReason("delete", subject, mode) || heldReason(ofSubject)}
              onClick=${() => remove(null)}>Delete the subject</${Button}>
          `}
        ${live.length === 0 && deleted.length > 0 && html`
          <${Button} reason=${writeReason("undelete", subject, mode)} onClick=${() =>
            restore(deleted)}>Undelete the subject</${Button}>
        `}
        <${Button} kind="danger" reason=${writeReason("purge", subject, mode) || heldReason(holders(null, true))}
          onClick=${() => purge(null)}>Purge the subject</${Button}>
      </div>
    </${Card}>
  `;
}

/**
 * The holders of the versions. A deleted holder no longer counts, so each deletion requests them again.
 * @param {string} subject
 * @param {number[]} versions
 */
function useHeld(subject, versions) {
  const name = qualified(subject);
  const lastDeletion = changes.value.find((change) => change.subject !== name && /deleted|removed/.test(change.type))
    ?.offset;
  const request = useRequest((signal) => heldVersions(subject, { signal }), [
    subject,
    versions.join(" "),
    lastDeletion,
  ]);
  return request.data ?? HELD_BY_NONE;
}

/**
 * @param {{subject: string, mode: string, version: number, isDeleted: boolean, holders: Holder[], cut: boolean, onDelete: () => void, onRestore: () => void,
 *   onPurge: () => void}} props
 */
function VersionRow({ subject, mode, version, isDeleted, holders, cut, onDelete, onRestore, onPurge }) {
  const link = href(path`/subjects/${subject}/versions/${version}`);
  return html`
    <li class=${isDeleted ? "row gone" : "row"}>
      <span class="grow">
        <a class="link" href=${link}>${isDeleted
          ? html`<s>Version ${version}</s>`
          : `Version ${version}`}</a>${isDeleted && html`${" "}<span class="badge bad">deleted</span>`}${" "}
        <${HeldBy} holders=${holders} cut=${cut} />
      </span>
      ${isDeleted
        ? html`
          <${Button} kind="small" label=${`Undelete version ${version}`} reason=${writeReason(
            "undelete",
            subject,
            mode,
          )}
            onClick=${onRestore}>Undelete</${Button}>
          <${Button} kind="small danger" label=${`Purge version ${version}`} reason=${writeReason(
            "purge",
            subject,
            mode,
          ) || heldReason(holders)}
            onClick=${onPurge}>Purge</${Button}>
        `
        : html`
          <${Button} kind="small" label=${`Delete version ${version}`}
            reason=${writeReason("delete", subject, mode) || heldReason(holders)}
            onClick=${onDelete}>Delete</${Button}>
        `}
    </li>
  `;
}

/**
 * Deletes permanently; soft-deletes live versions first.
 * @param {string} subject
 * @param {number | null} version
 * @param {number[]} live
 */
async function purged(subject, version, live) {
  if (version !== null) return await registry.deleteVersion(subject, version, { permanent: true });
  if (live.length > 0) await registry.deleteSubject(subject);
  return await registry.deleteSubject(subject, { permanent: true });
}
