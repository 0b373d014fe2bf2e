/**
 * The REST proxy's API behind `/ui/rest/`. If the proxy lacks version 3, the page uses versions 1 and 2 as far as they
 * go. Keys and values are read and written as bytes, without a consumer group.
 */
import { path } from "./encode_url.js";
import { ApiError, call } from "./client.js";

/** @typedef {{signal?: AbortSignal}} Options */
/**
 * `operations`: what the user may do with the topic; null if unknown
 * @typedef {{name: string, partitions: number | null, internal: boolean, operations?: string[] | null}} Topic
 */
/** @typedef {{partition: number, first: number, end: number}} Partition `end` is the offset of the next record */
/** @typedef {{name: string, value: string | null}} Header `value` is base64 */
/**
 * A record; key and value are base64, or null.
 * @typedef {{partition: number, offset: number, timestamp: number | null, key: string | null, value: string | null,
 *   headers: Header[]}} RecordBytes
 */
/** @typedef {{records: RecordBytes[], next: number, first: number | null, end: number | null}} Page */
/** @typedef {{id: string, state: string}} Group */
/** @typedef {{topic: string, partition: number, committed: number, end: number | null, lag: number | null,
 *   client: string, consumer: string}} Lag */

const BINARY_V1 = "application/vnd.kafka.binary.v1+json";
const BINARY_V2 = "application/vnd.kafka.binary.v2+json";
const MOST_BYTES = 1 << 20;
/** Statuses that mean that the proxy lacks the route. */
const MISSING = new Set([404, 405, 406]);

/**
 * @param {string} address encoded
 * @param {import("./types.d.ts").CallOptions} [options]
 * @returns {Promise<any>}
 */
export const get = async (address, options) =>
  (await call("GET", address, { exact: false, ...options, base: "rest" })).data;

/** @type {Promise<string | null> | null} */
let asked = null;

/**
 * The cluster's id; null if version 3 is not served.
 * @returns {Promise<string | null>}
 */
export function clusterId() {
  asked ??= get("/v3/clusters").then(
    (data) => data?.data?.[0]?.cluster_id ?? null,
    (error) => {
      // Some proxies return the id only to users with rights on the cluster. Versions 1 and 2 need no id.
      if (MISSING.has(error.status) || error.status === 403) return null;
      asked = null;
      throw error;
    },
  );
  return asked;
}

/**
 * @param {Options} [options]
 * @returns {Promise<Topic[]>}
 */
export async function topics({ signal } = {}) {
  const id = await clusterId();
  if (id === null) {
    const names = /** @type {string[]} */ (await get("/topics", { signal }));
    return names.map((name) => ({ name, partitions: null, internal: name.startsWith("__") }));
  }
  const query = { include_authorized_operations: true };
  const { data } = await get(path`/v3/clusters/${id}/topics`, { signal, query });
  return data.map((/** @type {any} */ topic) => ({
    name: topic.topic_name,
    partitions: topic.partitions_count,
    internal: topic.is_internal || topic.topic_name.startsWith("__"),
    operations: topic.authorized_operations?.length > 0 ? topic.authorized_operations : null,
  }));
}

/** Version 3's partitions with offsets. @param {any[]} rows @returns {Partition[]} */
export const boundsIn = (rows) =>
  rows.map((row) => ({ partition: row.partition_id, first: row.earliest_offset, end: row.latest_offset }));

/**
 * The partitions of a topic with their offsets.
 * @param {string} topic
 * @param {Options} [options]
 * @returns {Promise<Partition[]>}
 */
export async function partitions(topic, { signal } = {}) {
  const id = await clusterId();
  if (id !== null) {
    try {
      const { data } = await get(path`/v3/clusters/${id}/topics/${topic}/partitions/-/offset`, { signal });
      return boundsIn(data);
    } catch (error) {
      // Other proxies may have version 3 without this route.
      if (!MISSING.has(/** @type {ApiError} */ (error).status)) throw error;
    }
  }
  const rows = await get(path`/topics/${topic}/partitions`, { signal });
  return Promise.all(rows.map(async (/** @type {{partition: number}} */ { partition }) => {
    const offsets = await get(path`/topics/${topic}/partitions/${partition}/offsets`, { signal });
    return { partition, first: offsets.beginning_offset, end: offsets.end_offset };
  }));
}

/**
 * Reads records of a partition, from an offset or from a time in ms since the epoch.
 * @param {string} topic
 * @param {number} partition
 * @param {{offset?: number | "earliest" | "latest", timestamp?: number}} from
 * @param {Options & {limit?: number, wait?: number}} [options] `wait`: how long to wait for the first record, in ms
 * @returns {Promise<Page>}
 */
export async function read(topic, partition, { offset, timestamp }, { limit = 50, wait, signal } = {}) {
  const id = await clusterId();
  if (id !== null) {
    try {
      const query = {
        offset,
        timestamp,
        max_records: limit,
        max_bytes: MOST_BYTES,
        max_wait_ms: wait,
        key_type: "BINARY",
        value_type: "BINARY",
        out_of_range: wait ? undefined : "earliest",
      };
      const page = await get(path`/v3/clusters/${id}/topics/${topic}/partitions/${partition}/records`, {
        signal,
        query,
      });
      return {
        records: page.data.map(recordOfV3),
        next: page.next_offset,
        first: page.earliest_offset,
        end: page.latest_offset,
      };
    } catch (error) {
      if (!MISSING.has(/** @type {ApiError} */ (error).status)) throw error;
      if (/** @type {ApiError} */ (error).code > 404) throw error;
    }
  }
  return readV1(topic, partition, { offset, timestamp }, { limit, signal });
}

/**
 * @param {string} topic
 * @param {number} partition
 * @param {{offset?: number | "earliest" | "latest", timestamp?: number}} from
 * @param {Options & {limit: number}} options
 * @returns {Promise<Page>}
 */
async function readV1(topic, partition, { offset, timestamp }, { limit, signal }) {
  const bounds = await get(path`/topics/${topic}/partitions/${partition}/offsets`, { signal });
  const { beginning_offset: first, end_offset: end } = bounds;
  if (timestamp !== undefined) throw new ApiError({ status: 404, message: "This REST proxy cannot read from a time." });
  const from = Math.max(
    first,
    offset === "earliest" || offset === undefined ? first : offset === "latest" ? end : offset,
  );
  /** @type {any[]} */
  const rows = from >= end ? [] : await get(path`/topics/${topic}/partitions/${partition}/messages`, {
    signal,
    query: { offset: from, count: Math.min(limit, end - from) },
    headers: { Accept: BINARY_V1 },
  });
  const records = rows.map((row) => ({
    partition,
    offset: row.offset,
    timestamp: null,
    key: row.key,
    value: row.value,
    headers: [],
  }));
  return { records, next: (records.at(-1)?.offset ?? from - 1) + 1, first, end };
}

/**
 * @param {any} row
 * @returns {RecordBytes}
 */
function recordOfV3(row) {
  return {
    partition: row.partition_id,
    offset: row.offset,
    timestamp: row.timestamp === null ? null : Date.parse(row.timestamp),
    key: row.key?.data ?? null,
    value: row.value?.data ?? null,
    headers: row.headers ?? [],
  };
}

/**
 * The request that produces a record.
 * @param {string | null} cluster
 * @param {string} topic
 * @param {{partition?: number, key: string | null, value: string | null, headers: Header[]}} record base64
 * @returns {import("./types.d.ts").Request}
 */
export function produceRequest(cluster, topic, { partition, key, value, headers }) {
  if (cluster === null) {
    const record = { key, value, ...(partition === undefined ? {} : { partition }) };
    const body = { records: [record] };
    return { method: "POST", path: path`/topics/${topic}`, body, base: "rest", headers: { "Content-Type": BINARY_V2 } };
  }
  const data = (/** @type {string | null} */ bytes) => bytes === null ? null : { type: "BINARY", data: bytes };
  const body = {
    ...(partition === undefined ? {} : { partition_id: partition }),
    ...(headers.length ? { headers } : {}),
    key: data(key),
    value: data(value),
  };
  return { method: "POST", path: path`/v3/clusters/${cluster}/topics/${topic}/records`, body, base: "rest" };
}

/**
 * Produces a record.
 * @param {import("./types.d.ts").Request} request
 * @returns {Promise<{partition: number, offset: number}>}
 */
export async function produce(request) {
  const { data } = await call("POST", request.path, { ...request, exact: false, base: "rest" });
  const report = data.offsets?.[0] ?? data;
  const code = report.error_code ?? 200;
  if (code !== 200) throw new ApiError({ status: 422, code, message: report.message ?? report.error, data });
  return { partition: report.partition_id ?? report.partition, offset: report.offset };
}

/**
 * The consumer groups; null if version 3 is not served.
 * @param {Options} [options]
 * @returns {Promise<Group[] | null>}
 */
export async function groups({ signal } = {}) {
  const id = await clusterId();
  if (id === null) return null;
  const { data } = await get(path`/v3/clusters/${id}/consumer-groups`, { signal });
  return data.map((/** @type {any} */ row) => ({ id: row.consumer_group_id, state: row.state ?? "" }));
}

/**
 * The lags of a group; empty if it has committed nothing.
 * @param {string} group
 * @param {Options} [options]
 * @returns {Promise<Lag[]>}
 */
export async function lags(group, { signal } = {}) {
  const id = await clusterId();
  try {
    const { data } = await get(path`/v3/clusters/${String(id)}/consumer-groups/${group}/lags`, { signal });
    return data.map((/** @type {any} */ row) => ({
      topic: row.topic_name,
      partition: row.partition_id,
      committed: row.current_offset,
      end: row.log_end_offset,
      lag: row.lag,
      client: row.client_id ?? "",
      consumer: row.consumer_id ?? "",
    }));
  } catch (error) {
    if (/** @type {ApiError} */ (error).status === 404) return [];
    throw error;
  }
}
