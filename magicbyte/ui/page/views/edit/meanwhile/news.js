/** Lines above the editor's bar: changes of the subject since the draft began, with their actions. */
import { valueOr } from "../../../api/fact.js";
import { Button } from "../../../parts/buttons.js";
import { html, useRef, useState } from "../../../vendor/ui.js";
import { latestOf } from "../draft/stored_text.js";
import { isGone, isStale } from "../draft/base_version.js";

/**
 * @import { SubjectFacts } from "./subject_facts.js"
 * @import { Draft } from "../draft/drafts.js"
 * @param {{facts: SubjectFacts, draft: Draft, isQuiet: boolean, onShow: () => void, onAnew: () => void}} props
 *   `isQuiet`: hides news of versions: the user already sees them, or they may be the user's own, because the feed can
 *   be faster than the response
 */
export function News({ facts: { versions, level, mode }, draft, isQuiet, onShow, onAnew }) {
  const { base } = draft;
  const latest = latestOf(versions);
  const levelNews = useSetting("level", valueOr(level, ""));
  const modeNews = useSetting("mode", valueOr(mode, { mode: "" }).mode);
  return html`
    <div class="edit-news" role="status">
      ${!isQuiet && isGone(versions, draft) && html`
        <${Line} label="Register it anew" onClick=${onAnew}>
          The subject was deleted meanwhile. Your text is kept.
        </${Line}>
      `}
      ${!isQuiet && isStale(versions, draft) && html`
        <${Line} label="See both texts" onClick=${onShow}>
          ${latest > base
            ? `Version ${latest} came meanwhile. Your text is checked against it, too.`
            : `Version ${base} was deleted meanwhile: version ${latest} is the latest now.`}
        </${Line}>
      `}
      ${levelNews && html`<${Line} label="Close" onClick=${levelNews.onSeen}>${levelNews.words}</${Line}>`}
      ${modeNews && html`<${Line} label="Close" onClick=${modeNews.onSeen}>${modeNews.words}</${Line}>`}
    </div>
  `;
}

/** @param {{label: string, onClick: () => void, children?: any}} props */
const Line = ({ label, onClick, children }) =>
  html`
    <p class="row wrap">
      <span class="grow">${children}</span>
      <${Button} kind="small" onClick=${onClick}>${label}</${Button}>
    </p>
  `;

/**
 * A change of a setting that the user has not dismissed yet. The first known value is not a change.
 * @param {string} name
 * @param {string} value  empty if it is unknown
 */
function useSetting(name, value) {
  const seen = useRef("");
  const [, setRound] = useState(0);
  if (seen.current === "") seen.current = value;
  if (value === "" || value === seen.current) return null;
  const words = `The ${name} is ${value} now; it was ${seen.current}.`;
  const onSeen = () => {
    seen.current = value;
    setRound((round) => round + 1);
  };
  return { words, onSeen };
}
