/** Sums of a group's lags. */

/**
 * The lag of a group in all its topics; the total is null if no lag is known.
 * @param {Pick<import("../../api/admin.js").Group, "lags">} group
 * @returns {{total: number | null, unknown: number}} `unknown`: the number of partitions with an unknown lag
 */
export function lagOf({ lags }) {
  if (!lags) return { total: null, unknown: 0 };
  const unknown = lags.reduce((sum, topic) => sum + topic.unknown, 0);
  const partitions = lags.reduce((sum, topic) => sum + topic.partitions, 0);
  const total = lags.reduce((sum, topic) => sum + topic.total, 0);
  return { total: partitions > 0 && unknown === partitions ? null : total, unknown };
}
