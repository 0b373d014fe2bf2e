import flights from "./flights_v4.json" with { type: "json" };
import { fieldNames, fieldsWithDefault } from "../../../../magicbyte/ui/page/views/edit/places/avro_names.js";
import { placesOf } from "../../../../magicbyte/ui/page/views/edit/places/findings.js";
import { allowed, rowsOf } from "../../../../magicbyte/ui/page/views/edit/places/matrix.js";
import { sidesOf, titleOf, whoOf } from "../../../../magicbyte/ui/page/views/edit/places/words.js";
import { equal } from "../generated.js";

/** @type {any[]} */
const explanations = flights.explanations;

/** @param {string} level */
function shown(level) {
  const defaults = fieldsWithDefault(flights.latest);
  const nameOf = fieldNames(flights.text);
  return placesOf(explanations, 3, level).map((place) => {
    const { name, text } = titleOf(place, { latest: 3, nameOf, hadDefault: (field) => defaults.has(field) });
    return [`${place.at?.line}:${place.at?.column}`, `${name} ${text}`, sidesOf(place, [1, 2, 3])];
  });
}

Deno.test("findings of one rule at one position are one place", () => {
  equal(shown("BACKWARD"), [
    ["84:7", "carrier was string, is enum", "both sides, all versions"],
    ["94:5", "destination is new and has no default", "new readers of versions 1, 2, 3; old readers miss dest"],
    ["126:5", "gate is new and has no default", "new readers of versions 1, 2, 3"],
    ["110:5", "source lost its default", "new readers of version 1"],
    ["32:7", "distance is long since version 3", "old readers of versions 1, 2"],
  ]);
});

Deno.test("the level moves its places to the top", () => {
  equal(shown("FULL_TRANSITIVE").map(([at]) => at), ["84:7", "94:5", "110:5", "126:5", "32:7"]);
  equal(shown("FORWARD").map(([at]) => at), ["84:7", "94:5", "110:5", "126:5", "32:7"]);
});

Deno.test("a note names the broken reader", () => {
  const places = placesOf(explanations, 3, "BACKWARD");
  equal(places.map(whoOf), [
    "Readers on both sides, versions 1 to 3",
    "New readers, on data of versions 1 to 3",
    "New readers, on data of versions 1 to 3",
    "New readers, on data of version 1",
    "Readers with versions 1 and 2, on new data",
  ]);
});

Deno.test("the matrix counts places by version and direction", () => {
  const rows = rowsOf(explanations, [1, 2, 3], "BACKWARD");
  equal(rows.map(({ version, backward, forward }) => [version, backward.places, forward.places]), [
    [3, 3, 2],
    [2, 3, 3],
    [1, 4, 3],
  ]);
  equal(rows.map(({ backward, forward }) => [backward.asked, forward.asked]), [
    [true, false],
    [false, false],
    [false, false],
  ]);
  equal(allowed(rows), false);
  equal(allowed(rowsOf(explanations, [1, 2, 3], "NONE")), true);
});

Deno.test("each level requires its cells of the matrix", () => {
  /** @param {string} level */
  const asked = (level) =>
    rowsOf([], [1, 2], level).map(({ backward, forward }) => `${Number(backward.asked)}${Number(forward.asked)}`);
  equal(asked("NONE"), ["00", "00"]);
  equal(asked("BACKWARD"), ["10", "00"]);
  equal(asked("BACKWARD_TRANSITIVE"), ["10", "10"]);
  equal(asked("FORWARD"), ["01", "00"]);
  equal(asked("FORWARD_TRANSITIVE"), ["01", "01"]);
  equal(asked("FULL"), ["11", "00"]);
  equal(asked("FULL_TRANSITIVE"), ["11", "11"]);
});

Deno.test("a warning is no place of the matrix", () => {
  const [first] = explanations;
  const rows = rowsOf([{ ...first, severity: "warning" }], [3], "FULL");
  equal([rows[0].backward.places, rows[0].forward.places], [0, 0]);
});
