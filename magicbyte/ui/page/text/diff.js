/** Compares two texts line by line, and the changed lines word by word. */

import { diffArrays, diffWordsWithSpace } from "../vendor/diff.js";
import { Lines, segmentsOf } from "./positions.js";

/** @import { Layout } from "./pretty.js" */
/** @typedef {[number, number]} Mark A span of a line, in UTF-16 units from 0. */
/**
 * One row of the comparison. Lines count from 1; 0 means that this side has no line in the row.
 * @typedef {{old: number, new: number, same: boolean, oldMarks: Mark[], newMarks: Mark[]}} Row
 */
/** @typedef {{same: boolean, old: number, new: number, oldCount: number, newCount: number}} Hunk */

/** Larger hunks, in lines, get no word comparison. */
const WORDS_UP_TO = 2000;

/**
 * The rows of the comparison, or null if it takes longer than `timeout`.
 * @param {Layout} before
 * @param {Layout} after
 * @param {{timeout?: number}} [options] `timeout` in milliseconds
 * @returns {Row[] | null}
 */
export function diffLines(before, after, { timeout = 300 } = {}) {
  const oldLines = new Lines(before.text);
  const newLines = new Lines(after.text);
  const json = before.type !== "PROTOBUF" && after.type !== "PROTOBUF";
  const oldKeys = keysOf(oldLines, json);
  const newKeys = keysOf(newLines, json);
  const hunks = hunksOf(oldKeys, newKeys, timeout);
  if (hunks === null) return null;
  /** @type {Row[]} */
  const rows = [];
  for (const hunk of hunks) {
    if (hunk.same) {
      for (let step = 0; step < hunk.oldCount; step += 1) {
        rows.push({ old: hunk.old + step, new: hunk.new + step, same: true, oldMarks: [], newMarks: [] });
      }
    } else pushChanged(rows, hunk, before, oldLines, after, newLines);
  }
  return rows;
}

/**
 * The keys by which lines are compared: the text; in JSON, without a comma at the end.
 * @param {Lines} lines
 * @param {boolean} json
 */
function keysOf(lines, json) {
  const keys = [];
  for (let line = 1; line <= lines.count; line += 1) {
    const text = lines.lineText(line).trimEnd();
    keys.push(json && text.endsWith(",") ? text.slice(0, -1) : text);
  }
  return keys;
}

/**
 * Equal and changed hunks, alternating; null if the comparison takes longer than `timeout`.
 * @param {string[]} before
 * @param {string[]} after
 * @param {number} timeout
 * @returns {Hunk[] | null}
 */
export function hunksOf(before, after, timeout) {
  const [oldNumbers, newNumbers] = lineNumbers(before, after);
  let head = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && oldNumbers[head] === newNumbers[head]) head += 1;
  let tail = 0;
  while (
    tail < shorter - head && oldNumbers[before.length - 1 - tail] === newNumbers[after.length - 1 - tail]
  ) tail += 1;
  const changes = diffArrays(
    oldNumbers.slice(head, before.length - tail),
    newNumbers.slice(head, after.length - tail),
    { timeout },
  );
  if (!changes) return null;
  /** @type {Hunk[]} */
  const hunks = [];
  let old = 1;
  let fresh = 1;
  /** @param {boolean} same @param {number} oldCount @param {number} newCount */
  const push = (same, oldCount, newCount) => {
    if (oldCount + newCount === 0) return;
    const last = hunks.at(-1);
    if (last && last.same === same) {
      last.oldCount += oldCount;
      last.newCount += newCount;
    } else hunks.push({ same, old, new: fresh, oldCount, newCount });
    old += oldCount;
    fresh += newCount;
  };
  push(true, head, head);
  for (const change of changes) {
    const { count } = change;
    if (change.added) push(false, 0, count);
    else if (change.removed) push(false, count, 0);
    else push(true, count, count);
  }
  push(true, tail, tail);
  return slid(hunks, before, after);
}

/** Lines as numbers: equal lines get equal numbers. @param {string[]} before @param {string[]} after */
function lineNumbers(before, after) {
  /** @type {Map<string, number>} */
  const numbers = new Map();
  /** @param {string} line */
  const number = (line) => {
    const seen = numbers.get(line);
    if (seen !== undefined) return seen;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  return [before.map(number), after.map(number)];
}

/**
 * Moves each pure insertion and each pure removal so that it begins and ends with a whole object, if equal lines around
 * the hunk allow several positions.
 * @param {Hunk[]} hunks
 * @param {string[]} before
 * @param {string[]} after
 */
function slid(hunks, before, after) {
  for (let index = 0; index < hunks.length; index += 1) {
    const hunk = hunks[index];
    if (hunk.same || (hunk.oldCount > 0 && hunk.newCount > 0)) continue;
    const previous = hunks[index - 1];
    const next = hunks[index + 1];
    const added = hunk.newCount > 0;
    const lines = added ? after : before;
    const start = (added ? hunk.new : hunk.old) - 1;
    const end = start + (added ? hunk.newCount : hunk.oldCount);
    let up = 0;
    while (previous && up < previous.oldCount && lines[start - 1 - up] === lines[end - 1 - up]) up += 1;
    let down = 0;
    while (next && down < next.oldCount && lines[start + down] === lines[end + down]) down += 1;
    let best = 0;
    for (let step = -up; step <= down; step += 1) {
      if (cost(lines, start + step, end + step) < cost(lines, start + best, end + best)) best = step;
    }
    if (best !== 0) shift(hunk, previous, next, best);
  }
  return hunks.filter((hunk) => hunk.oldCount + hunk.newCount > 0);
}

/**
 * Cost of a hunk's borders: low for little indentation and for no closing bracket at the start.
 * @param {string[]} lines
 * @param {number} start
 * @param {number} end
 */
function cost(lines, start, end) {
  const first = lines[start] ?? "";
  const last = lines[end - 1] ?? "";
  const closes = /^\s*[}\])]/.test(first) ? 1 : 0;
  const blank = first.trim() === "" ? 1 : 0;
  return indent(first) * 4 + indent(last) * 4 + closes * 2 + blank;
}

/** @param {string} line */
function indent(line) {
  return line.length - line.trimStart().length;
}

/**
 * @param {Hunk} hunk
 * @param {Hunk | undefined} previous
 * @param {Hunk | undefined} next
 * @param {number} step
 */
function shift(hunk, previous, next, step) {
  hunk.old += step;
  hunk.new += step;
  if (previous) {
    previous.oldCount += step;
    previous.newCount += step;
  }
  if (next) {
    next.old += step;
    next.new += step;
    next.oldCount -= step;
    next.newCount -= step;
  }
}

/**
 * @param {Row[]} rows
 * @param {Hunk} hunk
 * @param {Layout} before
 * @param {Lines} oldLines
 * @param {Layout} after
 * @param {Lines} newLines
 */
function pushChanged(rows, hunk, before, oldLines, after, newLines) {
  const withWords = hunk.oldCount + hunk.newCount <= WORDS_UP_TO;
  for (let step = 0; step < Math.max(hunk.oldCount, hunk.newCount); step += 1) {
    const old = step < hunk.oldCount ? hunk.old + step : 0;
    const fresh = step < hunk.newCount ? hunk.new + step : 0;
    /** @type {[Mark[], Mark[]]} */
    let marks = [[], []];
    if (old > 0 && fresh > 0 && withWords) {
      const left = segmentsOf(before, oldLines, old).map((segment) => segment.text);
      const right = segmentsOf(after, newLines, fresh).map((segment) => segment.text);
      marks = marksOf(left, right);
    }
    rows.push({ old, new: fresh, same: false, oldMarks: marks[0], newMarks: marks[1] });
  }
}

/**
 * The spans that differ between two lines, which are given as tokens. Compares long texts inside a token word by word.
 * Lines with little in common get no marks: the whole line is the change.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {[Mark[], Mark[]]}
 */
export function marksOf(before, after) {
  /** @type {Mark[]} */
  const oldMarks = [];
  /** @type {Mark[]} */
  const newMarks = [];
  let old = 0;
  let fresh = 0;
  let common = 0;
  const changes = diffArrays(before, after);
  for (let index = 0; index < changes.length; index += 1) {
    const change = changes[index];
    const text = change.value.join("");
    const following = changes[index + 1];
    if (!change.added && !change.removed) {
      common += text.trim().length;
      old += text.length;
      fresh += text.length;
    } else if (change.removed && following?.added && isProse(change.value) && isProse(following.value)) {
      for (const word of diffWordsWithSpace(text, following.value.join(""))) {
        if (!word.added && !word.removed) common += word.value.trim().length;
        if (word.removed) oldMarks.push([old, old + word.value.length]);
        if (word.added) newMarks.push([fresh, fresh + word.value.length]);
        if (!word.added) old += word.value.length;
        if (!word.removed) fresh += word.value.length;
      }
      index += 1;
    } else if (change.removed) {
      oldMarks.push([old, old + text.length]);
      old += text.length;
    } else {
      newMarks.push([fresh, fresh + text.length]);
      fresh += text.length;
    }
  }
  return common * 4 < Math.min(old, fresh) - indent(before.join("")) ? [[], []] : [oldMarks, newMarks];
}

/** Whether the changed tokens are a single token that contains words. @param {string[]} tokens */
function isProse(tokens) {
  return tokens.length === 1 && /\S\s+\S/.test(tokens[0]);
}
