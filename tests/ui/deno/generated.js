/** Random texts for the tests of text/, the same in each run; and a comparison by value. */

/** @typedef {(below: number) => number} Next A random integer from 0 to below - 1. */

/** @param {number} seed @returns {Next} */
export function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** @template T @param {Next} next @param {T[]} values @returns {T} */
export function pick(next, values) {
  return values[next(values.length)];
}

/** Throws unless both are equal by value. @param {unknown} actual @param {unknown} expected @param {string} [about] */
export function equal(actual, expected, about = "") {
  const [left, right] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${about}\n  actual   ${left}\n  expected ${right}`);
}

/** A JSON text, sometimes a broken one. @param {Next} next @returns {string} */
export function jsonText(next) {
  const text = jsonValue(next, 0);
  if (next(8) > 0) return text;
  const at = next(text.length);
  return text.slice(0, at) + pick(next, ["", '"', "}", "\n", ",", "😀", "\\", "-"]) + text.slice(at + next(3));
}

/** @param {Next} next @param {number} depth @returns {string} */
function jsonValue(next, depth) {
  const space = () => pick(next, ["", "", " ", "\n", "\t "]);
  const kind = next(depth > 4 ? 4 : 7);
  if (kind === 0) return pick(next, ["1", "-0.50", "1e400", "9223372036854775807", "0.1"]);
  if (kind === 1) return pick(next, ["true", "false", "null"]);
  if (kind < 4) return jsonString(next);
  const count = next(5);
  const members = Array.from({ length: count }, () => {
    const value = space() + jsonValue(next, depth + 1) + space();
    return kind === 4 ? value : `${space()}${jsonString(next)}${space()}:${value}`;
  });
  return kind === 4 ? `[${members.join(",")}]` : `{${members.join(",")}}`;
}

/** @param {Next} next */
function jsonString(next) {
  return pick(next, ['""', '"name"', '"a b"', '"\\""', '"\\\\"', '"é😀"', '"\\u202e"', '"{,:[]"', '"name"']);
}

/** @param {Next} next */
export function protoText(next) {
  const gap = () => pick(next, [" ", "", " ", "  "]);
  const line = () => pick(next, ["", "", "", "\n", "// note\n"]);
  /** @param {number} depth @returns {string} */
  const message = (depth) => {
    const members = Array.from(
      { length: next(4) },
      (_, index) =>
        next(4) === 0 && depth < 3
          ? message(depth + 1)
          : `${pick(next, ["", "optional ", "repeated "])}${
            pick(next, ["int32", ".a.B", "map<string, B>"])
          } x${index}` +
            `${gap()}=${gap()}${index + 1}${gap()}${
              pick(next, ["", '[(o).x = "a;b{"]', "[deprecated=true]"])
            };${line()}`,
    );
    return `message M${depth}${gap()}{${gap()}${members.join(gap())}}${line()}`;
  };
  return `syntax${gap()}=${gap()}'proto3';${line()}${message(0)}`;
}
