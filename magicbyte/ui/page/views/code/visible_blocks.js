/** Which blocks of a long list are near the view: pure arithmetic on their heights. */

/** Rows of a block: what is added or removed at once. */
export const BLOCK = 50;
/** Blocks are in the document from this far above the view to as far below it, in px. */
const MARGIN = 600;

/** @param {number} rows */
export const blockCount = (rows) => Math.ceil(rows / BLOCK);

/**
 * How many rows a block has.
 * @param {number} block
 * @param {number} rows of the list
 */
export const rowsOf = (block, rows) => Math.min(BLOCK, rows - block * BLOCK);

/**
 * The first and the last block near the view.
 * @param {{count: number, heightOf: (block: number) => number, top: number, height: number}} view `top`: the list's top
 *   relative to the view's, in px; `height`: that of the view
 * @returns {[number, number]} the last one is before the first one if none is near
 */
export function blocksNear({ count, heightOf, top, height }) {
  let first = -1;
  let last = -2;
  let y = top;
  for (let block = 0; block < count && y <= height + MARGIN; block += 1) {
    const end = y + heightOf(block);
    if (end >= -MARGIN) {
      if (first < 0) first = block;
      last = block;
    }
    y = end;
  }
  return [first, last];
}

/**
 * The list as blocks to show and spacers for those between them; the first entry is always a spacer.
 * @param {number[]} blocks sorted
 * @param {number} count of all blocks
 * @param {(block: number) => number} heightOf
 * @returns {({block: number} | {spacer: number, height: number})[]} `spacer`: the first block that it stands for
 */
export function withSpacers(blocks, count, heightOf) {
  /** @type {({block: number} | {spacer: number, height: number})[]} */
  const parts = [];
  let next = 0;
  /** @param {number} end */
  const space = (end) => {
    let height = 0;
    for (let block = next; block < end; block += 1) height += heightOf(block);
    if (height > 0 || parts.length === 0) parts.push({ spacer: next, height });
  };
  for (const block of blocks) {
    space(block);
    parts.push({ block });
    next = block + 1;
  }
  space(count);
  return parts;
}
