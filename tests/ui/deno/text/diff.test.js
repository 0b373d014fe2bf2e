import { hunksOf, marksOf } from "../../../../magicbyte/ui/page/text/diff.js";
import { fold, scopeAt, scopesOf } from "../../../../magicbyte/ui/page/text/folds.js";
import { Lines } from "../../../../magicbyte/ui/page/text/positions.js";
import { asStored, pretty } from "../../../../magicbyte/ui/page/text/pretty.js";
import { diffLines } from "../comparing.js";
import { equal, jsonText, random } from "../generated.js";

/** @param {unknown} value @param {import("../../../../magicbyte/ui/page/text/pretty.js").SchemaType} [type] */
function layout(value, type = "AVRO") {
  return pretty(asStored(typeof value === "string" ? value : JSON.stringify(value), type));
}

/** The comparison as a unified diff. @param {unknown} before @param {unknown} after */
function unified(before, after) {
  const [left, right] = [layout(before), layout(after)];
  const [oldLines, newLines] = [new Lines(left.text), new Lines(right.text)];
  return (diffLines(left, right) ?? []).filter((row) => !row.same).flatMap((row) => [
    ...(row.old ? [`-${row.old} ${oldLines.lineText(row.old).trim()}`] : []),
    ...(row.new ? [`+${row.new} ${newLines.lineText(row.new).trim()}`] : []),
  ]);
}

const field = (/** @type {string} */ name, type = "string") => ({ name, type });

Deno.test("a changed type is one line, and its mark is the token", () => {
  const rows = diffLines(
    layout({ fields: [field("distance", "int")] }),
    layout({ fields: [field("distance", "long")] }),
  );
  equal(rows?.filter((row) => !row.same), [{
    old: 5,
    new: 5,
    same: false,
    oldMarks: [[14, 19]],
    newMarks: [[14, 20]],
  }]);
});

Deno.test("an added object begins with its bracket, and the comma before it is no change", () => {
  equal(unified({ fields: [field("a")] }, { fields: [field("a"), field("b")] }), [
    "+7 {",
    '+8 "name": "b",',
    '+9 "type": "string"',
    "+10 }",
  ]);
  equal(unified({ fields: [field("a"), field("b"), field("c")] }, { fields: [field("a"), field("c")] }), [
    "-7 {",
    '-8 "name": "b",',
    '-9 "type": "string"',
    "-10 },",
  ]);
});

Deno.test("words are marked inside long texts", () => {
  equal(marksOf(['"doc"', ": ", '"where it went"'], ['"doc"', ": ", '"when it went"']), [[[8, 13]], [[8, 12]]]);
});

Deno.test("lines with little in common have no marks", () => {
  equal(marksOf(['"abcdef"', ":", '"x"'], ['"ghijklm"', ":", "[1, 2]"]), [[], []]);
});

Deno.test("both texts can be read off the rows", () => {
  const next = random(11);
  for (let round = 0; round < 400; round += 1) {
    const [before, after] = [layout(jsonText(next)), layout(jsonText(next))];
    const rows = diffLines(before, after) ?? [];
    equal(
      rows.filter((row) => row.old).map((row) => row.old),
      Array.from(new Lines(before.text).starts, (_, i) => i + 1),
    );
    equal(
      rows.filter((row) => row.new).map((row) => row.new),
      Array.from(new Lines(after.text).starts, (_, i) => i + 1),
    );
  }
});

Deno.test("equal stretches are equal", () => {
  const next = random(5);
  for (let round = 0; round < 500; round += 1) {
    const lines = () => Array.from({ length: next(12) }, () => ["{", "}", "  a", "  b"][next(4)]);
    const [before, after] = [lines(), lines()];
    for (const hunk of hunksOf(before, after, 60_000) ?? []) {
      if (!hunk.same) continue;
      equal(hunk.oldCount, hunk.newCount);
      equal(
        before.slice(hunk.old - 1, hunk.old - 1 + hunk.oldCount),
        after.slice(hunk.new - 1, hunk.new - 1 + hunk.newCount),
      );
    }
  }
});

Deno.test("a comparison that takes too long has no rows", () => {
  const lines = (/** @type {string} */ mark) => Array.from({ length: 30_000 }, (_, index) => `${mark}${index}`);
  const began = performance.now();
  equal(hunksOf(lines("a"), lines("b"), 50), null);
  equal(performance.now() - began < 5_000, true);
});

Deno.test("a megabyte with few changes is compared in full", () => {
  const fields = Array.from({ length: 20_000 }, (_, index) => field(`field_${index}`));
  const changed = fields.with(9_000, field("field_9000", "long"));
  equal(unified({ fields }, { fields: changed }), ['-36005 "type": "string"', '+36005 "type": "long"']);
});

Deno.test("stretches over six lines are folded and name their record", () => {
  const address = { type: "record", name: "Address", fields: [field("street"), field("city"), field("zip")] };
  const changed = structuredClone(address);
  changed.fields[2].type = "int";
  const order = (/** @type {unknown} */ type) => ({
    type: "record",
    name: "Order",
    fields: [{ name: "address", type }, field("note")],
  });
  const [before, after] = [layout(order(address)), layout(order(changed))];
  const rows = diffLines(before, after) ?? [];
  const scopes = scopesOf(after);
  const items = fold(rows, (row) => scopeAt(scopes, row.new));
  equal(items[0], { fold: true, from: 0, to: 18, name: "Address" });
  equal(items.slice(1, 5), [18, 19, 20, 21].map((index) => ({ fold: false, index })));
  equal(items.at(-1), { fold: true, from: 22, to: rows.length, name: "" });
});

Deno.test("six equal lines are not folded", () => {
  const rows = Array.from({ length: 9 }, (_, index) => (
    { old: index + 1, new: index + 1, same: index !== 8, oldMarks: [], newMarks: [] }
  ));
  equal(fold(rows, () => "").length, 9);
});

Deno.test("the named parts of the three types", () => {
  const schema = { properties: { address: { type: "object", properties: { city: { type: "string" } } } } };
  equal(scopesOf(layout(schema, "JSON")), [{ name: "city", from: 6, to: 8 }, { name: "address", from: 3, to: 10 }]);
  const proto = "message Order {\n  oneof how {\n    int32 a = 1;\n  }\n}\nenum State {\n  NEW = 0;\n}\n";
  equal(scopesOf(layout(proto, "PROTOBUF")), [
    { name: "how", from: 2, to: 4 },
    { name: "Order", from: 1, to: 5 },
    { name: "State", from: 6, to: 8 },
  ]);
  equal(scopeAt(scopesOf(layout(proto, "PROTOBUF")), 3), "how");
});
