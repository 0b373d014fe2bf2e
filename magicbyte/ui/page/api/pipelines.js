/**
 * The pipelines, as the page's server reads them from their metrics ports and from the markers of their Kafka sinks.
 */
import { call } from "./client.js";

/** A table of numbers by name. @typedef {Record<string, number>} Counts */
/** @typedef {{operator: string, rows: number | null, bytes: number | null, late: number | null}} StepState */
/**
 * The metrics of a pipeline; a figure that its port does not report is null or empty. Times are in ms.
 * @typedef {{batch: number | null, writtenAt: number | null, seconds: number | null, rows: Counts, lag: number | null,
 *   lagByTopic: Counts, topicsLeftOut: number, lagSeconds: number | null, eventTime: number | null,
 *   failedChecks: Counts, restarts: number | null, late: number | null, unmatched: Counts, watermark: number | null,
 *   beganAt: number | null, file: string | null, sinks: string | null, deadLetters: string | null,
 *   partitions?: {topic: string, partition: number, records: number}[], schemaIds?: Counts, steps?: StepState[]}} Figures
 */
/**
 * The last batch in a Kafka sink, by its marker.
 * @typedef {{sink: string, query: string, batch: number, time: number | null, written: number, refused: number,
 *   writers: number, behind: number, inputs?: {topic: string, partition: number, next: number}[]}} Sink
 */
/** @typedef {{time: number | null, batch: number, schemas: Record<string, number | null>, statements: string[]}} Change */
/**
 * @typedef {{name: string | null, address: string | null, state: "healthy" | "unhealthy" | "unreachable" | "marker",
 *   reason: string, health: {status: string, idleSeconds: number | null, batch: number | null} | null,
 *   figures: Figures | null, figuresAt: number | null, sinks: Sink[], change: Change | null}} Pipeline
 */
/**
 * `now` is the server's time; `skew` is how far the browser's clock is behind it, in ms.
 * @typedef {{now: number, skew: number, configured: number,
 *   markers: {state: "read" | "partial" | "missing" | "forbidden" | "unavailable" | "none", reason: string,
 *     unreadable: number},
 *   pipelines: Pipeline[], leftOut: number}} Pipelines
 */

/**
 * The request for all pipelines, or for the details of one.
 * @param {string} [name]
 * @returns {import("./types.d.ts").Request}
 */
export const pipelinesRequest = (name) => ({
  method: "GET",
  path: "/pipelines.json",
  query: name === undefined ? undefined : { name },
  base: "ui",
});

/**
 * @param {string | undefined} name only this pipeline, with details
 * @param {{signal?: AbortSignal}} [options]
 * @returns {Promise<Pipelines>}
 */
export async function pipelines(name, { signal } = {}) {
  const { path, query } = pipelinesRequest(name);
  const { data } = await call("GET", path, { base: "ui", query, signal, exact: false });
  return { ...data, skew: data.now - Date.now() };
}
