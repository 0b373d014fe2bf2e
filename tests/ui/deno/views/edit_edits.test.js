import flights from "./flights_v4.json" with { type: "json" };
import { applied, changesOf, moved, offsetAt } from "../../../../magicbyte/ui/page/views/edit/places/edits.js";
import { equal } from "../generated.js";

Deno.test("edits count characters, strings count UTF-16 units", () => {
  const text = '{"doc": "🛫é", "type": "int"}';
  const edits = [{ offset: 22, length: 5, text: '"long"' }, { offset: 1, length: 0, text: '"a": 1, ' }];
  equal([...text].slice(22, 27).join(""), '"int"');
  equal(applied(text, changesOf(text, edits)), '{"a": 1, "doc": "🛫é", "type": "long"}');
});

Deno.test("an edit writes the alias of the registry into the field", () => {
  const finding = flights.explanations.find(({ new: at, direction }) => at?.line === 94 && direction === "BACKWARD");
  const fix = finding?.fixes[0];
  const text = applied(flights.text, changesOf(flights.text, fix?.edits ?? []));
  const field = JSON.parse(text).fields.find((/** @type {{name: string}} */ { name }) => name === "destination");
  equal([fix?.title, field.aliases], ['Add the alias "dest": renamed?', ["dest"]]);
});

Deno.test("edits move with the text, and are dropped when their place has changed", () => {
  const changes = [{ from: 4, to: 6, insert: "XX" }];
  equal(moved("0123456789", "__0123456789", changes), [{ from: 6, to: 8, insert: "XX" }]);
  equal(moved("0123456789", "0123456789__", changes), changes);
  equal(moved("0123456789", "01234_6789", changes), null);
});

Deno.test("a position is an offset, its column counts characters", () => {
  const text = 'a\n"🛫" b\nc';
  equal(
    [[1, 1], [2, 1], [2, 5], [2, 99], [3, 1], [9, 1]].map(([line, column]) => offsetAt(text, { line, column })),
    [0, 2, 7, 8, 9, 10],
  );
});
