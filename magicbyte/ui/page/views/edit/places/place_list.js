/** The list of places: one row for the findings of one rule at one position. */
import { Shown } from "../../../parts/hostile.js";
import { counted } from "../../../text/counted.js";
import { html } from "../../../vendor/ui.js";
import { sidesOf, titleOf } from "./words.js";

/**
 * @import { Place } from "./findings.js"
 * @typedef {Parameters<typeof titleOf>[1]} About
 */

/**
 * @param {{
 *   places: Place[], check: import("./check.d.ts").Check, versions: number[], about: About,
 *   open: string | null, onOpen: (key: string) => void,
 * }} props
 */
export function PlaceList({ places, check: { invalid, checked, checking, failure }, versions, about, open, onOpen }) {
  const breaking = places.filter(({ warning }) => !warning).length;
  const hints = places.length - breaking;
  const count = `${counted(breaking, "place")}${hints ? `, ${hints} to look at` : ""}`;
  return html`
    <section class="card places" aria-labelledby="places">
      <div class="row places-head">
        <h2 id="places" class="grow" aria-live="polite">${invalid
          ? "Not a schema yet"
          : !checked
          ? "Places"
          : versions.length
          ? count
          : "A schema"}</h2>
        <span class="xs dim">${invalid || versions.length === 0 ? "" : "all versions, both ways"}</span>
      </div>
      ${invalid && html`<${InvalidRow} invalid=${invalid} open=${open === "invalid"} onOpen=${onOpen} />`}
      ${!invalid && places.map((place) => {
        const { name, text } = titleOf(place, about);
        return html`
          <button
            key=${place.key} type="button" class="find1" aria-current=${place.key === open ? "true" : undefined}
            onClick=${() => onOpen(place.key)}>
            <span class="mono xs ln">${place.at ? `${place.at.line}:${place.at.column}` : "-"}</span>
            <span>
              <span class="find-title">
                ${place.warning && html`<span class="warn-sign">▲ Allowed, but: </span>`}
                ${name && html`<b class="mono"><${Shown} text=${name} /></b>${" "}`}<${Shown} text=${text} />
              </span>
              <span class="xs dim find-sides"><${Shown} text=${sidesOf(place, versions)} /></span>
            </span>
          </button>
        `;
      })}
      ${!invalid && places.length === 0 && html`
        <p class="s dim places-none">${checking
          ? "Checking ..."
          : failure
          ? `Not checked: ${failure.message}`
          : !checked
          ? "Not checked yet."
          : versions.length
          ? "Nothing breaks, in any version."
          : "No version is there to break."}</p>
      `}
    </section>
  `;
}

/** @param {{invalid: import("./check.d.ts").Invalid, open: boolean, onOpen: (key: string) => void}} props */
function InvalidRow({ invalid: { message, position }, open, onOpen }) {
  return html`
    <button type="button" class="find1" aria-current=${open ? "true" : undefined} onClick=${() => onOpen("invalid")}>
      <span class="mono xs ln">${position ? `${position.line}:${position.column}` : "-"}</span>
      <span class="find-title"><${Shown} text=${message} /></span>
    </button>
  `;
}
