import { equal } from "../generated.js";
import { messageNames } from "../../../../magicbyte/ui/page/views/edit/draft/message_names.js";
import { mergedDraft, mergeDrafts } from "../../../../magicbyte/ui/page/views/edit/meanwhile/merged_draft.js";
import { isGone, isStale } from "../../../../magicbyte/ui/page/views/edit/draft/base_version.js";

/** @typedef {import("../../../../magicbyte/ui/page/views/edit/draft/drafts.js").Draft} Draft */

/** @type {Draft} */
const DRAFT = {
  text: '{"type":"record","name":"R","fields":[]}',
  type: "AVRO",
  from: 1,
  base: 1,
  references: [],
  metadata: "",
  ruleSet: "",
  normalize: false,
};
const reference = (/** @type {string} */ name, version = 1) => ({ name, subject: `${name}-value`, version });

Deno.test("apart from the text, a merge has only parts that differ", () => {
  const parts = mergeDrafts(DRAFT, { ...DRAFT, metadata: '{"tags":{}}' }, DRAFT) ?? [];
  equal(parts.map(({ name }) => name), ["text", "metadata"]);
  equal(mergedDraft(parts, {}), {
    text: '{\n  "type": "record",\n  "name": "R",\n  "fields": []\n}',
    metadata: '{\n  "tags": {}\n}',
  });
  const theirs = mergeDrafts(DRAFT, DRAFT, { ...DRAFT, ruleSet: '{"domainRules":[]}' }) ?? [];
  equal(mergedDraft(theirs, {})?.ruleSet, '{\n  "domainRules": []\n}');
});

Deno.test("a text on one line and the same text in lines are no change", () => {
  const parts = mergeDrafts(DRAFT, { ...DRAFT, text: DRAFT.text.replaceAll(",", ",\n\n") }, DRAFT) ?? [];
  equal(parts.map(({ pieces }) => pieces.map(({ kind }) => kind)), [["same"]]);
});

Deno.test("references of both sides are merged, one line each", () => {
  const base = { ...DRAFT, references: [reference("a"), reference("b"), reference("c")] };
  const mine = { ...DRAFT, references: [reference("a", 2), reference("b"), reference("c")] };
  const theirs = { ...DRAFT, references: [reference("a"), reference("b"), reference("c"), reference("d")] };
  equal(mergedDraft(mergeDrafts(base, mine, theirs) ?? [], {})?.references, [
    reference("a", 2),
    reference("b"),
    reference("c"),
    reference("d"),
  ]);
  const other = { ...DRAFT, references: [reference("a", 3), reference("b"), reference("c")] };
  const parts = mergeDrafts(base, mine, other) ?? [];
  equal(mergedDraft(parts, {}), null);
  equal(mergedDraft(parts, { references: ["theirs"] })?.references?.[0], reference("a", 3));
});

Deno.test("a text that is no JSON is merged by its lines", () => {
  const broken = { ...DRAFT, text: '{"type":"record","name":"R","fields":[]' };
  const parts = mergeDrafts(DRAFT, broken, DRAFT) ?? [];
  equal(mergedDraft(parts, {})?.text, '{\n  "type": "record",\n  "name": "R",\n  "fields": []');
});

Deno.test("schemas of different types are not merged", () => {
  equal(mergeDrafts(DRAFT, DRAFT, { ...DRAFT, type: "JSON" }), null);
  equal(mergeDrafts({ ...DRAFT, type: "JSON" }, DRAFT, DRAFT), null);
});

Deno.test("a draft is stale if another version is the latest, and gone without any", () => {
  /** @type {[number[], number, boolean, boolean][]} */
  const cases = [
    [[1, 2], 2, false, false],
    [[1, 2, 3], 2, true, false],
    [[1], 2, true, false],
    [[], 2, false, true],
    [[1], 0, false, false],
    [[], 0, false, false],
  ];
  for (const [versions, base, stale, gone] of cases) {
    equal([isStale(versions, { ...DRAFT, base }), isGone(versions, { ...DRAFT, base })], [stale, gone]);
  }
});

Deno.test("the messages of a Protobuf text have their full names", () => {
  const text = `syntax = "proto3"; // message No {}
package acme.orders;
option (o) = { message: "x" };
message Order {
  message Line { string message = 1; enum Kind { A = 0; } }
  oneof message { Line line = 2; }
  map<string, Line> lines = 3;
}
enum E { Z = 0; }
message Empty {}
service S { rpc Get(Order) returns (Empty) { option deprecated = true; } }`;
  equal(messageNames(text), ["acme.orders.Order", "acme.orders.Order.Line", "acme.orders.Empty"]);
  equal(messageNames("message package { string id = 1; } message B {}"), ["package", "B"]);
  equal(messageNames("message A { message"), ["A"]);
  equal(messageNames("message {"), []);
  equal(messageNames(""), []);
});
