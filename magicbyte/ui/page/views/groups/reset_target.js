/** The target of a reset in the address: `to=offset&at=12&topics=orders:0,2;payments`. */

/** Value and label. @type {[string, string][]} */
export const TARGETS = [
  ["earliest", "the first record"],
  ["latest", "the end"],
  ["time", "a time"],
  ["offset", "an offset"],
  ["shift", "shift by"],
];

/**
 * Parses the chosen topics and partitions. A topic's name has no colon, comma or semicolon.
 * @param {string} text such as `orders:0,2;payments`
 * @returns {Map<string, string>} topic -> its partitions as typed; empty for all
 */
export function readPlaces(text) {
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const part of text.split(";").filter(Boolean)) {
    const [topic, partitions = ""] = part.split(":");
    places.set(topic, partitions);
  }
  return places;
}

/** @param {Map<string, string>} places */
export const writePlaces = (places) =>
  [...places].map(([topic, partitions]) => partitions ? `${topic}:${partitions}` : topic).join(";");

/**
 * The targets of a request, or the problem with them. A shift needs committed offsets, so if no partitions are given,
 * it uses the partitions with committed offsets.
 * @param {{to: string, at: string, topics: string}} wanted
 * @param {Map<string, number[]>} [committed] topic -> the partitions with a committed offset
 * @returns {{targets: object[], problem: string}}
 */
export function targetsOf({ to, at, topics }, committed = new Map()) {
  const places = readPlaces(topics);
  const target = targetOf(to, at.trim());
  if (typeof target === "string") return { targets: [], problem: target };
  if (places.size === 0) return { targets: [], problem: "Choose a topic." };
  const targets = [];
  for (const [topic, typed] of places) {
    const partitions = typed.trim() || (to === "shift" ? (committed.get(topic) ?? []).join(",") : "");
    if (!partitions) {
      targets.push({ topic_name: topic, ...target });
      continue;
    }
    for (const number of partitions.split(",").map((part) => part.trim())) {
      if (!/^\d{1,9}$/.test(number)) {
        return { targets: [], problem: `Partitions of ${topic}: write numbers with commas between, such as 0,2.` };
      }
      targets.push({ topic_name: topic, partition_id: Number(number), ...target });
    }
  }
  return { targets, problem: "" };
}

/** @param {string} to @param {string} at @returns {object | string} the target, or the problem with it */
function targetOf(to, at) {
  if (to === "earliest" || to === "latest") return { to };
  if (to === "time") {
    const ms = Date.parse(at);
    return Number.isNaN(ms) ? "Choose a time." : { timestamp: new Date(ms).toISOString() };
  }
  // An offset has up to 19 digits; a double keeps 15.
  const number = /^[+-]?\d{1,15}$/.test(at) ? Number(at) : null;
  if (to === "offset") return number === null || number < 0 ? "Write an offset: a whole number." : { offset: number };
  return number === null ? "Write how far to shift: a whole number, negative to go back." : { shift_by: number };
}
