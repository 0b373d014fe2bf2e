/** Copies a selection completely, including lines that are not in the document. */

import { useEffect } from "../../vendor/ui.js";

/** @import { Lines } from "../../text/positions.js" */

/**
 * @param {{current: HTMLElement | null}} box the element around the lines
 * @param {Lines} lines
 */
export function useWholeCopy(box, lines) {
  useEffect(() => {
    const stop = new AbortController();
    document.addEventListener("copy", (event) => {
      const selection = getSelection();
      if (!box.current || !selection || selection.isCollapsed || !event.clipboardData) return;
      const range = selection.getRangeAt(0);
      if (!gapsIn(box.current).some((gap) => range.intersectsNode(gap))) return;
      const from = offsetOf(range.startContainer, range.startOffset, lines) ?? 0;
      const to = offsetOf(range.endContainer, range.endOffset, lines) ?? lines.text.length;
      event.clipboardData.setData("text/plain", lines.text.slice(from, to));
      event.preventDefault();
    }, { signal: stop.signal });
    return () => stop.abort();
  }, [lines]);
}

/** The spacers that replace lines. @param {HTMLElement} box */
const gapsIn = (box) =>
  /** @type {HTMLElement[]} */ ([...box.querySelectorAll(".spacer")]).filter((spacer) => spacer.offsetHeight > 0);

/**
 * Maps a position in the document to an offset in the text; null outside a line.
 * @param {Node} node
 * @param {number} offset
 * @param {Lines} lines
 */
function offsetOf(node, offset, lines) {
  const element = node instanceof Element ? node : node.parentElement;
  const line = /** @type {HTMLElement | null | undefined} */ (element?.closest("[data-line]"));
  const text = line?.querySelector(".t");
  if (!line || !text) return null;
  const number = Number(line.dataset.line);
  const before = document.createRange();
  before.setStart(text, 0);
  // A position before the text, such as in the line number, counts as the line's start.
  if (before.comparePoint(node, offset) > 0) before.setEnd(node, offset);
  return Math.min(lines.starts[number - 1] + before.toString().length, lines.lineEnd(number));
}
