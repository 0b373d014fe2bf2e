import { changes, overview } from "../../../../magicbyte/ui/page/state/signals.js";
import { takeChanges } from "../../../../magicbyte/ui/page/state/live_listing.js";
import { equal } from "../generated.js";

/** @param {number | string} offset */
const change = (offset, subject = "a") => ({ type: "schema.registered", offset, subject });
const told = () => changes.peek().map(({ offset, cursor, subject }) => [offset, cursor, subject]);

function reset() {
  changes.value = [];
  overview.value = null;
}

Deno.test("the listing takes each change with an offset once, newest first", () => {
  reset();
  takeChanges([change(3), change(5, "b")]);
  takeChanges([change(5, "b"), change(6)]);
  equal(told(), [[6, undefined, "a"], [5, undefined, "b"], [3, undefined, "a"]]);
});

Deno.test("the listing takes each change with a sealed offset once, in order of arrival", () => {
  reset();
  takeChanges([change("~f0"), change("~0a", "b")]);
  takeChanges([change("~0a", "b"), change("~1c")]);
  takeChanges([change("~1c")]);
  const [newest, middle, oldest] = told();
  equal([newest.slice(1), middle.slice(1), oldest.slice(1)], [["~1c", "a"], ["~0a", "b"], ["~f0", "a"]]);
  equal([newest[0] > middle[0], middle[0] > oldest[0]], [true, true]);
});

Deno.test("sealed offsets that follow plain ones are newer", () => {
  reset();
  takeChanges([change(700)]);
  takeChanges([change("~0a", "b")]);
  equal(told().map(([, , subject]) => subject), ["b", "a"]);
});
