/** Visited and pinned subjects, kept in localStorage. */
import { splitSubject } from "../text/split_subject.js";
import { route } from "../state/routes.js";
import { qualified } from "../state/signals.js";
import { stored } from "../state/preferences.js";
import { effect, untracked } from "../vendor/ui.js";

const MOST = 8;

/** Names with their context, newest first. */
export const recent = stored("recent", /** @type {string[]} */ ([]));

/** Names with their context, in the order of pinning. */
export const pinned = stored("pinned", /** @type {string[]} */ ([]));

/** Records each subject whose page opens. @returns {() => void} stops the recording */
export function noteVisits() {
  return effect(() => {
    const { subject } = route.value.params;
    if (!subject) return;
    untracked(() => {
      const name = qualified(subject);
      if (recent.value[0] !== name) {
        recent.value = [name, ...recent.value.filter((other) => other !== name)].slice(0, MOST);
      }
    });
  });
}

/** @param {string} subject */
export const isPinned = (subject) => pinned.value.includes(subject);

/** @param {string} subject */
export function togglePin(subject) {
  pinned.value = isPinned(subject) ? pinned.value.filter((other) => other !== subject) : [...pinned.value, subject];
}

/** The label of a subject in a list of several contexts. @param {string} subject */
export function shownName(subject) {
  const { context, name } = splitSubject(subject);
  return context ? `${name} in ${context}` : name;
}
