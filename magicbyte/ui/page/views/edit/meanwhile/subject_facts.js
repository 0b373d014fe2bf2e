/**
 * The versions, level and mode of the edited subject. Reads them again when the change feed reports a change of the
 * subject or of its inherited settings.
 */
import { factOf, mapped } from "../../../api/fact.js";
import * as registry from "../../../api/registry.js";
import { newestFor } from "../../../state/listing_columns.js";
import { changes, qualified } from "../../../state/signals.js";
import { effect, useEffect, useRef, useState } from "../../../vendor/ui.js";

/**
 * @import { Fact } from "../../../api/fact.js"
 * @typedef {{mode: string, origin?: string}} Mode
 * @typedef {{versions: number[], level: Fact<string>, mode: Fact<Mode>}} SubjectFacts
 * @typedef {SubjectFacts & {news: number, reload: () => Promise<SubjectFacts>}} LiveFacts  `news`: how many times the
 *   feed has reported a change since the page opened
 */

/**
 * Keeps facts up to date.
 * @param {string} subject  empty for a subject that has no name yet
 * @param {SubjectFacts} loaded  the facts that the page has read
 * @returns {LiveFacts}
 */
export function useSubjectFacts(subject, loaded) {
  const [fresh, setFresh] = useState(/** @type {{subject: string, facts: SubjectFacts} | null} */ (null));
  const [news, setNews] = useState(0);
  const facts = fresh?.subject === subject ? fresh.facts : loaded;
  const latest = useRef({ subject, facts, round: 0 });
  latest.current = { subject, facts, round: latest.current.round };
  const reload = async () => {
    const round = ++latest.current.round;
    const read = await readFacts(subject, latest.current.facts);
    // Ignore a response that arrives after a later one.
    if (round === latest.current.round && subject === latest.current.subject) setFresh({ subject, facts: read });
    return read;
  };
  const again = useRef(reload);
  again.current = reload;
  const name = qualified(subject);
  useEffect(() => {
    if (subject === "") return;
    let seen = newestFor(name, changes.peek());
    return effect(() => {
      const newest = newestFor(name, changes.value);
      if (newest <= seen) return;
      seen = newest;
      setNews((count) => count + 1);
      again.current().catch(() => {/* The next change, check or registration reads them. */});
    });
  }, [name]);
  return { ...facts, news, reload };
}

/**
 * Reads the facts. If the user may not read the versions, keeps the known ones. A deleted subject has none.
 * @param {string} subject
 * @param {SubjectFacts} before
 * @returns {Promise<SubjectFacts>}
 */
async function readFacts(subject, before) {
  const [versions, config, mode] = await Promise.all([
    factOf(registry.versions(subject)),
    // A user who may write a subject need not have the right to read its settings.
    factOf(registry.config(subject)),
    factOf(registry.mode(subject)),
  ]);
  return {
    versions: versions.gap === null ? versions.value : versions.gap === "absent" ? [] : before.versions,
    level: mapped(config, ({ compatibilityLevel }) => compatibilityLevel),
    mode,
  };
}
