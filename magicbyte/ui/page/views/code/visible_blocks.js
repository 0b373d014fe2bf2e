/** Computes which blocks of a long list are near the view. Pure arithmetic on heights. */

/** The rows of a block, which the list adds or removes together. */
export const BLOCK = 50;
/** Blocks up to this far above or below the view are in the document, in px. */
const MARGIN = 600;

/** @param {number} rows */
export const blockCount = (rows) => Math.ceil(rows / BLOCK);

/**
 * How many rows a block has.
 * @param {number} block
 * @param {number} rows the number of rows of the list
 */
export const rowsOf = (block, rows) => Math.min(BLOCK, rows - block * BLOCK);

/**
 * The first and the last block near the view.
 * @param {{count: number, heightOf: (block: number) => number, top: number, height: number}} view `top`: the list's top
 *   relative to the view's, in px; `height`: the height of the view
 * @returns {[number, number]} `last` is less than `first` if no block is near
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
 * The list as visible blocks, with spacers for the blocks between them; the first entry is always a spacer.
 * @param {number[]} blocks sorted
 * @param {number} count the number of all blocks
 * @param {(block: number) => number} heightOf
 * @returns {({block: number} | {spacer: number, height: number})[]} `spacer`: the first block that the spacer replaces
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
