import { Bridge, Lines, segmentsOf } from "../../../../magicbyte/ui/page/text/positions.js";
import { asStored, pretty } from "../../../../magicbyte/ui/page/text/pretty.js";
import { equal, jsonText, pick, protoText, random } from "../generated.js";

Deno.test("columns count characters, offsets count UTF-16 units", () => {
  const lines = new Lines('a\n"😀" b\n');
  equal(lines.offsetOf({ line: 2, column: 5 }), 7);
  equal(lines.placeOf(7), { line: 2, column: 5 });
  equal(lines.offsetOf({ line: 2, column: 99 }), 8);
  equal(lines.offsetOf({ line: 9, column: 1 }), 9);
});

Deno.test("a place in the stored line has a place in the pretty text, and back", () => {
  const stored = asStored('{"name":"é😀","type":{"type":"enum","symbols":["A","B"]}}', "AVRO");
  const bridge = new Bridge(stored, pretty(stored));
  // The `{` of the type: column 21 in characters.
  equal(bridge.carry({ line: 1, column: 21 }), { line: 3, column: 11 });
  equal(bridge.carryBack({ line: 3, column: 11 }), { line: 1, column: 21 });
  // The second character of "B".
  equal(bridge.carry({ line: 1, column: 52 }), { line: 5, column: 23 });
});

Deno.test("a place in the space before a token moves to the token", () => {
  const stored = asStored('{   "a":1}', "AVRO");
  equal(new Bridge(stored, pretty(stored)).carry({ line: 1, column: 3 }), { line: 2, column: 3 });
});

Deno.test("each token's place survives the way to the pretty text and back", () => {
  const next = random(7);
  for (let round = 0; round < 500; round += 1) {
    const type = /** @type {"AVRO" | "PROTOBUF"} */ (pick(next, ["AVRO", "PROTOBUF"]));
    const stored = asStored(type === "AVRO" ? jsonText(next) : protoText(next), type);
    const bridge = new Bridge(stored, pretty(stored));
    for (const start of Array.from(stored.tokens.starts)) {
      const place = bridge.fromLines.placeOf(start);
      equal(bridge.carryBack(bridge.carry(place)), place, stored.text);
      equal(bridge.fromLines.offsetOf(place), start);
    }
  }
});

Deno.test("the pieces of all lines make up the text", () => {
  const next = random(3);
  for (let round = 0; round < 300; round += 1) {
    const layout = asStored(protoText(next), "PROTOBUF");
    const lines = new Lines(layout.text);
    const written = [];
    for (let line = 1; line <= lines.count; line += 1) {
      written.push(segmentsOf(layout, lines, line, [[1, 3], [5, 6]]).map((segment) => segment.text).join(""));
    }
    equal(written.join("\n"), layout.text);
  }
});

Deno.test("pieces are cut where a mark begins and ends", () => {
  const layout = asStored('"ab": 12', "JSON");
  equal(segmentsOf(layout, new Lines(layout.text), 1, [[2, 7]]), [
    { kind: "key", text: '"a', marked: false },
    { kind: "key", text: 'b"', marked: true },
    { kind: "punctuation", text: ":", marked: true },
    { kind: "space", text: " ", marked: true },
    { kind: "number", text: "1", marked: true },
    { kind: "number", text: "2", marked: false },
  ]);
});
