/** Sizes with their units. */

const UNITS = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A size in the unit that leaves at most four digits: `980 bytes`, `1.5 MiB`. @param {number} size */
export function bytes(size) {
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${UNITS[unit]}`;
}
