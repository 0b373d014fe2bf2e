/** The settings of a subject, with the deletion and restoring of its versions: `/subjects/{subject}/settings`. */
import { factOf, mapped, valueOr } from "../../api/fact.js";
import * as registry from "../../api/registry.js";
import { Loaded } from "../../parts/states.js";
import { SubjectHead } from "../subject/subject_head.js";
import { useRequest } from "../../parts/use_request.js";
import { useSubject } from "../subject/use_subject.js";
import { html, useEffect, useRef } from "../../vendor/ui.js";
import { useSubjectKeys } from "../subject/subject_keys.js";
import { DeleteCard } from "./delete_card.js";
import { SettingCards } from "./setting_cards.js";

/** @param {import("../../state/types.d.ts").ViewProps} props */
export default function SettingsPage({ params: { subject } }) {
  const facts = useSubject(subject);
  const request = useRequest((signal) => load(subject, signal), [subject]);
  // A reload keeps the user's choices; the facts may arrive after the cards.
  const newest = facts && `${subject} ${facts.versions} ${facts.version}`;
  const seen = useRef(newest);
  useEffect(() => {
    if (seen.current !== undefined && newest !== seen.current) request.reload();
    seen.current = newest;
  }, [newest]);
  useSubjectKeys(subject, undefined, request.data ? valueOr(request.data.live, []) : []);
  return html`
    <${SubjectHead} subject=${subject} tab="settings" />
    <div class="page settings">
      <${Loaded} request=${request} rows=${10}>
        ${(/** @type {Awaited<ReturnType<typeof load>>} */ data) =>
          html`
            <${SettingCards} subject=${subject} ...${data} onChanged=${request.reload} />
            <${DeleteCard} subject=${subject} mode=${data.mode} live=${data.live} deleted=${data
              .deleted} onChanged=${request.reload} />
          `}
      </${Loaded}>
    </div>
  `;
}

/**
 * @param {string} subject
 * @param {AbortSignal} signal
 */
async function load(subject, signal) {
  // Each request needs another right. A missing right hides only its own card.
  const [config, general, mode, all, deleted] = await Promise.all([
    factOf(registry.config(subject, { signal })),
    factOf(registry.config("", { signal })),
    factOf(registry.mode(subject, { signal })),
    factOf(registry.versions(subject, { signal, deleted: true })),
    factOf(registry.versions(subject, { signal, deletedOnly: true })),
  ]);
  /** @type {number[]} */
  const gone = valueOr(deleted, []);
  /** @param {number[]} versions */
  const without = (versions) => versions.filter((version) => !gone.includes(version));
  // Without the list of deleted versions, the live versions are unknown. If that list is absent, all versions are live.
  const live = deleted.gap === null || deleted.gap === "absent" ? mapped(all, without) : deleted;
  return { config, general, mode, live, deleted: gone };
}
