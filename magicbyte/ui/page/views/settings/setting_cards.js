/** The cards of a subject's or the registry's settings: level, mode, and all others. */
import { html } from "../../vendor/ui.js";
import { LevelCard } from "./level_card.js";
import { ModeCard } from "./mode_card.js";
import { OtherCard } from "./other_card.js";

/**
 * @param {{
 *   subject: string, config: Record<string, any>, general: Record<string, any>, mode: {mode: string, origin?: string},
 *   live: number[], onChanged: () => void,
 * }} props  `subject` is empty for the registry's settings; `general`: the registry's config
 */
export function SettingCards({ subject, config, general, mode, live, onChanged }) {
  const key = JSON.stringify(config);
  return html`
    <${LevelCard} key=${`level ${key}`} subject=${subject} mode=${mode.mode} level=${config
      .compatibilityLevel} origin=${config.origin}
      inherited=${general.compatibilityLevel} versions=${live} onChanged=${onChanged} />
    <${ModeCard} key=${`mode ${mode.mode} ${mode.origin}`} subject=${subject} mode=${mode.mode} origin=${mode.origin}
      onChanged=${onChanged} />
    <${OtherCard} key=${`other ${key}`} subject=${subject} mode=${mode.mode} config=${config} general=${general}
      onChanged=${onChanged} />
  `;
}
