import { ageOf, isOld } from "../../../../magicbyte/ui/page/views/pipelines/ages.js";
import { withNewest } from "../../../../magicbyte/ui/page/views/pipelines/batches.js";
import { inputsOf } from "../../../../magicbyte/ui/page/views/pipelines/inputs.js";
import { equal } from "../generated.js";

/** @import { Figures, Pipeline } from "../../../../magicbyte/ui/page/api/pipelines.js" */

const NOW = Date.UTC(2026, 0, 10, 12);
const SECOND = 1000;

Deno.test("an age counts seconds while it is fresh", () => {
  /** @type {[number, string][]} */
  const cases = [
    [-5, "0 s ago"],
    [0, "0 s ago"],
    [12, "12 s ago"],
    [59.9, "59 s ago"],
    [60, "1 min ago"],
    [3600, "1 h ago"],
    [86_400, "yesterday"],
    [3 * 86_400, "3 days ago"],
  ];
  for (const [seconds, words] of cases) equal(ageOf(NOW - seconds * SECOND, NOW), words);
});

Deno.test("figures are old after fifteen seconds", () => {
  equal(isOld(NOW - 15 * SECOND, NOW), false);
  equal(isOld(NOW - 15 * SECOND - 1, NOW), true);
});

/** @param {Partial<Figures>} changed @returns {Figures} */
const figures = (changed) => ({
  batch: 1,
  writtenAt: NOW,
  seconds: 1,
  rows: {},
  lag: 0,
  lagByTopic: {},
  topicsLeftOut: 0,
  lagSeconds: null,
  eventTime: null,
  failedChecks: {},
  restarts: null,
  late: null,
  unmatched: {},
  watermark: null,
  beganAt: 1,
  file: null,
  sinks: null,
  deadLetters: null,
  ...changed,
});

/** @param {Figures[]} answers */
const seen = (...answers) =>
  answers.reduce(withNewest, { batches: [], before: null }).batches.map(({ batch, read, dead }) => [batch, read, dead]);

Deno.test("the list has each batch once, newest first, with the rows since the previous batch", () => {
  const first = figures({ rows: { read: 10, dead: 1 } });
  const second = figures({ batch: 2, writtenAt: NOW + 1, rows: { read: 30, dead: 1 } });
  equal(seen(first, first, second), [[2, 20, 0], [1, null, null]]);
  equal(seen(figures({ batch: null })), []);
});

Deno.test("the list shows no rows if a batch was missed or the run started again", () => {
  const first = figures({ rows: { read: 10 } });
  equal(seen(first, figures({ batch: 3, writtenAt: NOW + 1, rows: { read: 30 } })), [[3, null, null], [1, null, null]]);
  const anew = figures({ batch: 2, writtenAt: NOW + 1, beganAt: 2, rows: { read: 5 } });
  equal(seen(first, anew), [[2, null, null], [1, null, null]]);
});

Deno.test("a repeated batch replaces its first attempt", () => {
  equal(seen(figures({}), figures({ writtenAt: NOW + 1 })), [[1, null, null]]);
});

Deno.test("inputs come from the metrics and from the newest marker", () => {
  /** @param {number} time @param {number} next */
  const sink = (time, next) => ({
    sink: "out",
    query: "q",
    batch: 1,
    time,
    written: 1,
    refused: 0,
    writers: 1,
    behind: 0,
    inputs: [{ topic: "b", partition: 0, next }],
  });
  const partitions = [{ topic: "a", partition: 1, records: 0 }, { topic: "a", partition: 0, records: 9 }];
  /** @type {Pipeline} */
  const pipeline = {
    name: "p",
    address: null,
    state: "healthy",
    reason: "",
    health: null,
    figures: figures({ partitions }),
    figuresAt: NOW,
    sinks: [sink(1, 5), sink(2, 7)],
    change: null,
  };
  equal(inputsOf(pipeline), [
    { topic: "a", partition: 0, behind: 9, next: null },
    { topic: "a", partition: 1, behind: 0, next: null },
    { topic: "b", partition: 0, behind: null, next: 7 },
  ]);
});
