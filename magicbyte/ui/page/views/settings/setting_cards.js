/**
 * The cards of a subject's or the registry's settings: level, mode, and all others. A card says if the user lacks the
 * right to change it.
 */
import { mapped, valueOr } from "../../api/fact.js";
import { Card } from "../../parts/cards.js";
import { GapPart } from "../../parts/gap.js";
import { html } from "../../vendor/ui.js";
import { LevelCard } from "./level_card.js";
import { ModeCard } from "./mode_card.js";
import { MoreSettingsCard } from "./more_settings_card.js";

/** @import { Fact } from "../../api/fact.js" */

/**
 * @param {{
 *   subject: string, config: Fact<Record<string, any>>, general: Fact<Record<string, any>>,
 *   mode: Fact<{mode: string, origin?: string}>, live: Fact<number[]>, onChanged: () => void,
 * }} props  `subject` is empty for the registry's settings; `general`: the registry's config
 */
export function SettingCards({ subject, config, general, mode, live, onChanged }) {
  const inEffect = mode.gap === null ? mode.value.mode : "";
  const inherited = valueOr(mapped(general, ({ compatibilityLevel }) => compatibilityLevel), undefined);
  const key = JSON.stringify(config);
  return html`
    ${config.gap !== null ? html`<${UnreadableCard} title="Compatibility level" fact=${config} />` : html`
      <${LevelCard} key=${`level ${key}`} subject=${subject} mode=${inEffect} level=${config.value.compatibilityLevel}
        origin=${config.value.origin} inherited=${inherited} versions=${valueOr(live, [])} onChanged=${onChanged} />
    `}
    ${mode.gap !== null ? html`<${UnreadableCard} title="Mode" fact=${mode} />` : html`
      <${ModeCard} key=${`mode ${inEffect} ${mode.value.origin}`} subject=${subject} mode=${inEffect}
        origin=${mode.value.origin} onChanged=${onChanged} />
    `}
    ${config.gap !== null ? html`<${UnreadableCard} title="Other settings" fact=${config} />` : html`
      <${MoreSettingsCard} key=${`other ${key}`} subject=${subject} mode=${inEffect} config=${config.value}
        general=${general} onChanged=${onChanged} />
    `}
  `;
}

/** The card of settings that the user may not read. @param {{title: string, fact: Fact<any>}} props */
const UnreadableCard = ({ title, fact }) =>
  html`
    <${Card} title=${title} aria-label=${title}>
      <${GapPart} fact=${fact} />
      </${Card}>
  `;
