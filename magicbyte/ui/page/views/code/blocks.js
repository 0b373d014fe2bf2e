/** Long lists of lines: laid out by the hundred, and shown in parts when there are very many. */

import { html, useState } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";

/** @import { Child } from "../../state/types.d.ts" */

const BLOCK = 100;
/** Lists up to this length are laid out at once. */
const SHORT = 2000;
/** This many lines are shown at first, and with each further step. */
const STEP = 20_000;
const LINE_HEIGHT = 20;

/**
 * @param {{items: any[], render: (item: any, index: number) => Child, first?: number}} props `first`: at least so many
 *   items are shown, for example up to the line that the address names
 */
export function Blocks({ items, render, first = 0 }) {
  const [limit, setLimit] = useState(STEP);
  if (items.length <= SHORT) return items.map(render);
  const shown = Math.min(items.length, Math.max(limit, Math.ceil(first / STEP) * STEP));
  const blocks = [];
  for (let start = 0; start < shown; start += BLOCK) {
    const end = Math.min(start + BLOCK, shown);
    blocks.push(html`
      <div
        class="hundred"
        style=${{ containIntrinsicSize: `auto ${(end - start) * LINE_HEIGHT}px` }}
        key=${start}
      >${items.slice(start, end).map((item, offset) => render(item, start + offset))}</div>
    `);
  }
  if (shown < items.length) {
    const left = items.length - shown;
    blocks.push(html`
      <p class="more no-print" key="more">
        <span class="dim s">${grouped(left)} more lines are not shown yet.</span>
        <button type="button" class="btn small" onClick=${() => setLimit(shown + STEP)}>
              Show ${grouped(Math.min(STEP, left))} more
            </button>
      </p>
    `);
  }
  return blocks;
}
