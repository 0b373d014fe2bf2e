/** The settings of a subject, its versions to delete, and those to bring back: `/subjects/{subject}/settings`. */
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
  // A reload keeps what the reader has chosen; the facts may come after the cards.
  const newest = facts && `${subject} ${facts.versions} ${facts.version}`;
  const seen = useRef(newest);
  useEffect(() => {
    if (seen.current !== undefined && newest !== seen.current) request.reload();
    seen.current = newest;
  }, [newest]);
  useSubjectKeys(subject, undefined, request.data?.live ?? []);
  return html`
    <${SubjectHead} subject=${subject} tab="settings" />
    <div class="page narrow settings">
      <${Loaded} request=${request} rows=${10}>
        ${(/** @type {Awaited<ReturnType<typeof load>>} */ data) =>
          html`
            <${SettingCards} subject=${subject} ...${data} onChanged=${request.reload} />
            <${DeleteCard} subject=${subject} mode=${data.mode.mode} live=${data.live} deleted=${data
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
  const [config, general, mode, all, deleted] = await Promise.all([
    registry.config(subject, { signal }),
    registry.config("", { signal }),
    registry.mode(subject, { signal }),
    registry.versions(subject, { signal, deleted: true }),
    registry.versions(subject, { signal, deletedOnly: true }),
  ]);
  const live = all.filter((/** @type {number} */ version) => !deleted.includes(version));
  return { config, general, mode, live: /** @type {number[]} */ (live), deleted: /** @type {number[]} */ (deleted) };
}
