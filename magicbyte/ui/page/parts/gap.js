/** Shows an unknown fact in words, never as an empty space or a guess. */
import { config } from "../state/signals.js";
import { BRIEF_GAPS, GAP_HEADS, GAPS } from "../text/phrases.js";
import { html } from "../vendor/ui.js";
import { Badge } from "./badges.js";
import { Empty } from "./states.js";

/** @import { Fact } from "../api/fact.js" */

/** Words after `nothing` or `no …`: with access rules, lists omit entries that the user may not see. */
export const visibly = () => config.value.accessRules ? " that you may see" : "";

/** A sentence after `not found`: with access rules, a schema that the user may not read counts as not found, too. */
export const perhapsHidden = () =>
  config.value.accessRules ? " The registry says the same of a schema that you may not read." : "";

/**
 * A gap within a line; nothing if the fact is known.
 * @param {{fact: Fact<any>, brief?: boolean}} props `brief`: one word, for a narrow column
 */
export const GapWords = ({ fact, brief = false }) => {
  if (fact.gap === null) return null;
  const words = (brief ? BRIEF_GAPS : GAPS)[fact.gap];
  return html`<span class="faint xs" data-gap=${fact.gap} title=${fact.reason}>${words}</span>`;
};

/** A gap among badges; nothing if the fact is known. @param {{fact: Fact<any>, name: string}} props `name`: such as `level` */
export const GapBadge = ({ fact, name }) =>
  fact.gap !== null && html`
    <span data-gap=${fact.gap}><${Badge} tone="line" title=${fact.reason}>${name}: ${GAPS[fact.gap]}</${Badge}></span>
  `;

/** A gap that replaces a whole part of a view. @param {{fact: Fact<any>, children?: any}} props */
export const GapPart = ({ fact, children }) =>
  fact.gap !== null && html`
    <div data-gap=${fact.gap}>
      <${Empty} title=${GAP_HEADS[fact.gap]}>${fact.reason && html`<p>${fact.reason}</p>`}${children}</${Empty}></div>
  `;
