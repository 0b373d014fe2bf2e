/**
 * Long lists of rows. Only the rows near the view are in the document; spacers of the right height replace the others.
 * So a text of several megabytes has a few thousand nodes. The browser's search only finds rows in the document;
 * find_box.js searches the whole text.
 */

import { html, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";
import { grouped } from "../../text/grouped.js";
import { BLOCK, blockCount, blocksNear, rowsOf, withSpacers } from "./visible_blocks.js";

/** @import { Child } from "../../state/types.d.ts" */

/** Lists up to this length are completely in the document. */
export const SHORT = 2000;
/** The number of rows of a longer list that are printed. */
const PRINTED = 5000;
const ROW_HEIGHT = 20;

/**
 * @typedef {object} WindowedProps
 * @property {any[]} items
 * @property {(item: any, index: number) => Child} render renders one item
 * @property {number} [goal] the row to scroll to when `goal` changes, unless the row is visible; -1 for none
 * @property {(row: number) => Element | null} [find] the element of a row
 * @property {number} [rowHeight] the approximate height of a row, in px
 * @property {"div" | "tbody"} [tag] the element of a block: table rows need a tbody
 */

/** @param {WindowedProps} props */
export function VirtualList(props) {
  const { items, render, tag = "div" } = props;
  if (items.length > SHORT) return html`<${LongList} ...${props} tag=${tag} />`;
  const rows = items.map(render);
  return tag === "div" ? rows : html`<${tag}>${rows}</${tag}>`;
}

/** @param {WindowedProps} props */
function LongList({ items, render, goal = -1, find = () => null, rowHeight = ROW_HEIGHT, tag = "div" }) {
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const count = blockCount(items.length);
  const heights = useRef(/** @type {Map<number, number>} */ (new Map()));
  const heightOf = (/** @type {number} */ block) =>
    heights.current.get(block) ?? rowsOf(block, items.length) * rowHeight;
  /** The row that the list still has to scroll to. */
  const wanted = useRef(goal);
  const lastGoal = useRef(goal);
  if (lastGoal.current !== goal) {
    lastGoal.current = goal;
    wanted.current = goal;
  }
  const [near, setNear] = useState(/** @type {number[]} */ ([]));
  const [printing, setPrinting] = useState(false);

  const updateBlocks = () => {
    const top = list.current?.getBoundingClientRect().top ?? 0;
    const [first, last] = blocksNear({ count, heightOf, top, height: innerHeight });
    const blocks = new Set(selectedBlocks(list.current));
    for (let block = first; block <= last; block += 1) blocks.add(block);
    const sorted = [...blocks].filter((block) => block < count).sort((one, other) => one - other);
    setNear((before) => before.join() === sorted.join() ? before : sorted);
  };
  const newest = useRef(updateBlocks);
  newest.current = updateBlocks;

  useLayoutEffect(() => {
    newest.current();
  }, [items]);
  useEffect(() => {
    const stop = new AbortController();
    const options = { signal: stop.signal };
    let frame = 0;
    const soon = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => newest.current());
    };
    // Scroll events do not bubble, so capture them: the list may be in its own scroll box.
    document.addEventListener("scroll", soon, { ...options, capture: true, passive: true });
    addEventListener("resize", () => {
      heights.current.clear();
      soon();
    }, options);
    addEventListener("beforeprint", () => setPrinting(true), options);
    addEventListener("afterprint", () => setPrinting(false), options);
    return () => {
      stop.abort();
      cancelAnimationFrame(frame);
    };
  }, []);
  // After each render, measure the blocks, and scroll to the row of the address or the search.
  useLayoutEffect(() => {
    for (const block of blocksIn(list.current)) {
      heights.current.set(Number(block.dataset.block), block.getBoundingClientRect().height);
    }
    if (wanted.current < 0) return;
    const element = find(wanted.current);
    if (!element) return;
    wanted.current = -1;
    if (!isInView(element)) element.scrollIntoView({ block: "center" });
    newest.current();
  });

  const goalBlock = wanted.current < 0 ? -1 : Math.floor(wanted.current / BLOCK);
  const shown = printing
    ? Array.from({ length: Math.min(count, PRINTED / BLOCK) }, (_, block) => block)
    : goalBlock < 0 || near.includes(goalBlock)
    ? near
    : [...near, goalBlock].sort((one, other) => one - other);
  const parts = withSpacers(shown, count, heightOf);
  return html`
    ${parts.map((part, index) =>
      "block" in part
        ? html`<${tag} class="block" key=${part.block} data-block=${part.block}>${
          items.slice(part.block * BLOCK, (part.block + 1) * BLOCK).map((item, row) =>
            render(item, part.block * BLOCK + row)
          )
        }</${tag}>`
        : html`
          <${Spacer} tag=${tag} height=${part.height} key=${index === 0 ? "first" : `s${part.spacer}`}
            list=${index === 0 ? list : null} />
        `
    )}
    ${printing && items.length > PRINTED && html`<${NotPrinted} tag=${tag} rows=${items.length} />`}
  `;
}

/** @param {{tag: "div" | "tbody", height: number, list: any}} props `list`: the ref for the list's first element */
const Spacer = ({ tag, height, list }) =>
  tag === "div" ? html`<div class="spacer" ref=${list} style=${{ height: `${height}px` }}></div>` : html`
    <tbody class="spacer" ref=${list} aria-hidden="true">
      <tr style=${{ height: `${height}px` }}></tr>
    </tbody>
  `;

/** @param {{tag: "div" | "tbody", rows: number}} props */
function NotPrinted({ tag, rows }) {
  const words = html`<p class="more">${grouped(PRINTED)} of ${
    grouped(rows)
  } lines are printed; the download has all.</p>`;
  return tag === "div" ? words : html`
    <tbody>
      <tr>
        <td colspan="9">${words}</td>
      </tr>
    </tbody>
  `;
}

/** The blocks of the list that begins with an element. @param {HTMLElement | null} first */
function blocksIn(first) {
  return /** @type {HTMLElement[]} */ ([...(first?.parentElement?.querySelectorAll(":scope > [data-block]") ?? [])]);
}

/**
 * The blocks in which the selection begins and ends. They stay in the document, or the selection would be lost.
 * @param {HTMLElement | null} first
 */
function selectedBlocks(first) {
  const selection = getSelection();
  if (!selection || selection.isCollapsed) return [];
  const blocks = blocksIn(first).filter((block) =>
    block.contains(selection.anchorNode) || block.contains(selection.focusNode)
  );
  return blocks.map((block) => Number(block.dataset.block));
}

/** @param {Element} element */
function isInView(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
