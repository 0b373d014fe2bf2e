/**
 * The last batches of a pipeline: its metrics only report the newest batch, so the page remembers the batches that it
 * has seen.
 */
import { Card } from "../../parts/cards.js";
import { absolute, isTime } from "../../parts/times.js";
import { html, useRef } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { Scrolled } from "../../parts/scrolled.js";

/** @typedef {import("../../api/pipelines.js").Figures} Figures */
/**
 * A batch, and its rows if the page has seen the batch before it.
 * @typedef {{batch: number, writtenAt: number | null, seconds: number | null, lag: number | null,
 *   read: number | null, written: number | null, dead: number | null}} Batch
 */

const MOST = 20;

/** @param {{pipeline: import("../../api/pipelines.js").Pipeline}} props */
export function Batches({ pipeline: { figures } }) {
  const seen = useRef({ batches: /** @type {Batch[]} */ ([]), before: /** @type {Figures | null} */ (null) });
  if (figures) seen.current = withNewest(seen.current, figures);
  const { batches } = seen.current;
  if (batches.length === 0) return null;
  const number = (/** @type {number | null} */ value) => value === null ? "" : grouped(value);
  return html`
    <${Card} title="Last batches" bare aside=${html`<span class="faint s">seen since you opened this page</span>`}>
      <${Scrolled} label="Last batches">
        <table>
          <thead>
            <tr>
              <th scope="col" class="r">Batch</th>
              <th scope="col">Written</th>
              <th scope="col" class="r">Seconds</th>
              <th scope="col" class="r">Read</th>
              <th scope="col" class="r">Written rows</th>
              <th scope="col" class="r">Dead</th>
              <th scope="col" class="r">Behind</th>
            </tr>
          </thead>
          <tbody>${batches.map(({ batch, writtenAt, seconds, read, written, dead, lag }) =>
            html`
              <tr key=${batch}>
                <td class="r num">${grouped(batch)}</td>
                <td class="num">${writtenAt !== null && isTime(writtenAt) && absolute(writtenAt)}</td>
                <td class="r num">${seconds === null ? "" : Math.round(seconds * 10) / 10}</td>
                <td class="r num">${number(read)}</td>
                <td class="r num">${number(written)}</td>
                <td class="r num">${number(dead)}</td>
                <td class="r num">${number(lag)}</td>
              </tr>
            `
          )}</tbody>
        </table>
        </${Scrolled}>
        </${Card}>
  `;
}

/**
 * Adds the newest batch, if it is new. The metrics count rows since the start of the run, so a batch's rows are known
 * only if the page saw the batch right before it.
 * @param {{batches: Batch[], before: Figures | null}} seen
 * @param {Figures} figures
 * @returns {{batches: Batch[], before: Figures | null}}
 */
export function withNewest({ batches, before }, figures) {
  const { batch, writtenAt, seconds, lag } = figures;
  if (batch === null || (before && before.batch === batch && before.writtenAt === writtenAt)) {
    return { batches, before };
  }
  const follows = before !== null && before.batch === batch - 1 && before.beganAt === figures.beganAt;
  const since = (/** @type {string} */ outcome) => {
    const now = figures.rows[outcome];
    return follows && now !== undefined && before ? now - (before.rows[outcome] ?? 0) : null;
  };
  const newest = {
    batch,
    writtenAt,
    seconds,
    lag,
    read: since("read"),
    written: since("written"),
    dead: since("dead"),
  };
  return { batches: [newest, ...batches.filter((other) => other.batch !== batch)].slice(0, MOST), before: figures };
}
