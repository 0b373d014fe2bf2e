/**
 * Merges two changes of one text, line by line. Keeps numbers, the order of keys and duplicate keys. In JSON, it only
 * sets the commas at the ends of lines again.
 */

import { hunksOf } from "./diff.js";

/** @typedef {"mine" | "theirs" | "both"} Choice `both`: theirs, then mine */
/** @typedef {"same" | "mine" | "theirs" | "equal" | "conflict"} Kind */
/**
 * A piece of the three texts. All pieces together have each line of each text once, in order.
 * @typedef {{kind: Kind, base: string[], mine: string[], theirs: string[]}} Piece `mine`, `theirs`: only this side
 *   changed it; `equal`: both changed it in the same way; `conflict`: in different ways
 */
/**
 * A changed region: lines `start` to `end` of the base became lines `from` to `to` of a side; from 0, ends excluded.
 */
/** @typedef {{start: number, end: number, from: number, to: number}} Region */
/** Changes of both sides that touch each other. @typedef {{start: number, end: number, mine: Region[], theirs: Region[]}} Group */

/**
 * The pieces of a merge, or null if comparing the texts takes longer than `timeout`.
 * @param {string} base
 * @param {string} mine
 * @param {string} theirs
 * @param {{json?: boolean, timeout?: number}} [options] `json`: all texts are pretty JSON, so a comma at a line's end
 *   belongs to the line's place; `timeout` in milliseconds
 * @returns {Piece[] | null}
 */
export function mergeTexts(base, mine, theirs, { json = false, timeout = 300 } = {}) {
  const texts = [base, mine, theirs].map((text) => text.split("\n"));
  const keys = texts.map((lines) => json ? lines.map(withoutComma) : lines);
  const changes = [1, 2].map((side) => regionsOf(keys[0], keys[side], timeout));
  if (changes[0] === null || changes[1] === null) return null;
  /** @type {Piece[]} */
  const pieces = [];
  let [baseAt, mineAt, theirsAt] = [0, 0, 0];
  /** @param {Kind} kind @param {number} baseTo @param {number} mineTo @param {number} theirsTo */
  const push = (kind, baseTo, mineTo, theirsTo) => {
    const piece = {
      kind,
      base: texts[0].slice(baseAt, baseTo),
      mine: texts[1].slice(mineAt, mineTo),
      theirs: texts[2].slice(theirsAt, theirsTo),
    };
    [baseAt, mineAt, theirsAt] = [baseTo, mineTo, theirsTo];
    if (piece.base.length + piece.mine.length + piece.theirs.length > 0) pieces.push(piece);
  };
  for (const { start, end, mine: mineRegions, theirs: theirsRegions } of grouped(changes[0], changes[1])) {
    push("same", start, mineAt + start - baseAt, theirsAt + start - baseAt);
    const [mineTo, theirsTo] = [mineAt + sizeOf(mineRegions, start, end), theirsAt + sizeOf(theirsRegions, start, end)];
    if (theirsRegions.length === 0) push("mine", end, mineTo, theirsTo);
    else if (mineRegions.length === 0) push("theirs", end, mineTo, theirsTo);
    else {
      const left = keys[1].slice(mineAt, mineTo);
      const right = keys[2].slice(theirsAt, theirsTo);
      for (const [kind, leftCount, rightCount] of partsOf(left, right, end - start)) {
        push(kind, end, mineAt + leftCount, theirsAt + rightCount);
      }
    }
  }
  push("same", texts[0].length, texts[1].length, texts[2].length);
  return pieces;
}

/**
 * The merged text; null while a conflict has no choice.
 * @param {Piece[]} pieces
 * @param {(Choice | undefined)[]} choices by the number of the conflict
 * @param {{json?: boolean}} [options] as for `mergeTexts`
 * @returns {string | null}
 */
export function mergedText(pieces, choices, { json = false } = {}) {
  /** @type {string[]} */
  const lines = [];
  let conflict = 0;
  for (const piece of pieces) {
    const choice = piece.kind === "conflict" ? choices[conflict++] : undefined;
    if (piece.kind === "conflict" && choice === undefined) return null;
    lines.push(...linesOf(piece, choice));
  }
  return (json ? withCommas(lines) : lines).join("\n");
}

/**
 * The lines of the merged text that come from a piece.
 * @param {Piece} piece
 * @param {Choice} [choice] of a conflict
 * @returns {string[]}
 */
export function linesOf({ kind, mine, theirs }, choice) {
  if (kind === "conflict") return choice === "both" ? [...theirs, ...mine] : choice === "mine" ? mine : theirs;
  return kind === "theirs" ? theirs : mine;
}

/** Whether a conflict can keep both sides, one after the other: it can if both only add lines. @param {Piece} piece */
export function mayTakeBoth({ kind, base }) {
  return kind === "conflict" && base.length === 0;
}

/**
 * @param {string[]} base
 * @param {string[]} side
 * @param {number} timeout
 * @returns {Region[] | null}
 */
function regionsOf(base, side, timeout) {
  const hunks = hunksOf(base, side, timeout);
  return hunks && hunks.filter(({ same }) => !same).map((hunk) => ({
    start: hunk.old - 1,
    end: hunk.old - 1 + hunk.oldCount,
    from: hunk.new - 1,
    to: hunk.new - 1 + hunk.newCount,
  }));
}

/**
 * Groups the changes of both sides in the order of the base. Changes that touch form one group.
 * @param {Region[]} mine
 * @param {Region[]} theirs
 * @returns {Group[]}
 */
function grouped(mine, theirs) {
  const all = [
    ...mine.map((region) => ({ side: /** @type {const} */ ("mine"), region })),
    ...theirs.map((region) => ({ side: /** @type {const} */ ("theirs"), region })),
  ].sort((one, other) => one.region.start - other.region.start || one.region.end - other.region.end);
  /** @type {Group[]} */
  const groups = [];
  for (const { side, region } of all) {
    const last = groups.at(-1);
    const opposite = last?.[side === "mine" ? "theirs" : "mine"] ?? [];
    if (last && (region.start < last.end || opposite.some((other) => touches(other, region)))) {
      last[side].push(region);
      last.end = Math.max(last.end, region.end);
    } else groups.push({ start: region.start, end: region.end, mine: [], theirs: [], [side]: [region] });
  }
  return groups;
}

/**
 * Whether a change of one side touches the next change of the other side. Two adjacent changes that keep their number
 * of lines do not touch.
 * @param {Region} first
 * @param {Region} next
 */
function touches(first, next) {
  return next.start === first.end && !(isLineByLine(first) && isLineByLine(next));
}

/** @param {Region} region */
const isLineByLine = ({ start, end, from, to }) => end - start === to - from;

/**
 * How many lines a side has for lines `start` to `end` of the base.
 * @param {Region[]} regions the side's changes in these lines
 * @param {number} start
 * @param {number} end
 */
const sizeOf = (regions, start, end) =>
  regions.reduce((size, region) => size + region.to - region.from - (region.end - region.start), end - start);

/**
 * Splits changes that touch into equal lines, lines of one side, and conflicts: a kind and the lines of each side.
 * @param {string[]} mine
 * @param {string[]} theirs
 * @param {number} replaced how many lines of the base they replace
 * @returns {[Kind, number, number][]}
 */
function partsOf(mine, theirs, replaced) {
  const isEqual = mine.length === theirs.length && mine.every((line, index) => line === theirs[index]);
  if (isEqual) return [["equal", mine.length, theirs.length]];
  // Replaced lines stay together. Of added lines, both sides may have added the same lines at the start or the end.
  const head = replaced === 0 ? commonHead(mine, theirs) : 0;
  const tail = replaced === 0 ? commonTail(mine.slice(head), theirs.slice(head)) : 0;
  const [left, right] = [mine.length - head - tail, theirs.length - head - tail];
  const kind = left === 0 && replaced === 0 ? "theirs" : right === 0 && replaced === 0 ? "mine" : "conflict";
  /** @type {[Kind, number, number][]} */
  const parts = [["equal", head, head], [kind, left, right], ["equal", tail, tail]];
  return parts.filter(([, one, other], index) => index === 1 || one + other > 0);
}

/**
 * The length of the longest common prefix that closes all its brackets.
 * @param {string[]} one
 * @param {string[]} other
 */
function commonHead(one, other) {
  let [closed, depth] = [0, 0];
  for (let at = 0; at < Math.min(one.length, other.length) && one[at] === other[at]; at += 1) {
    depth += opened(one[at]) - closes(one[at]);
    if (depth < 0) break;
    if (depth === 0) closed = at + 1;
  }
  return closed;
}

/**
 * The length of the longest common suffix that opens all its brackets.
 * @param {string[]} one
 * @param {string[]} other
 */
function commonTail(one, other) {
  let [whole, depth] = [0, 0];
  for (let size = 1; size <= Math.min(one.length, other.length) && one.at(-size) === other.at(-size); size += 1) {
    const line = one[one.length - size];
    depth += closes(line) - opened(line);
    if (depth < 0) break;
    if (depth === 0) whole = size;
  }
  return whole;
}

/** @param {string} line */
const opened = (line) => /[{[(]\s*$/.test(line) ? 1 : 0;

/** @param {string} line */
const closes = (line) => /^\s*[}\])]/.test(line) ? 1 : 0;

/** @param {string} line */
const withoutComma = (line) => line.endsWith(",") ? line.slice(0, -1) : line;

/**
 * The lines of a pretty JSON text with a comma between members.
 * @param {string[]} lines
 */
function withCommas(lines) {
  return lines.map((line, index) => {
    const bare = withoutComma(line);
    const next = lines[index + 1];
    return next === undefined || opened(bare) || closes(next) ? bare : `${bare},`;
  });
}
