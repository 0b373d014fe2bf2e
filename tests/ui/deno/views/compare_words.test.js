import {
  changeLines,
  effectOf,
  headlineOf,
  shortChange,
  verdict,
} from "../../../../magicbyte/ui/page/views/compare/words.js";
import { RowFinder, textOf, unifiedOf } from "../../../../magicbyte/ui/page/views/compare/rows.js";
import { layOutSmall } from "../../../../magicbyte/ui/page/text/in_worker.js";
import { recordName } from "../../../../magicbyte/ui/page/text/record_name.js";
import { diffLines } from "../comparing.js";
import { equal } from "../generated.js";

/** @import { Change, Comparison, Finding, OutlineNode } from "../../../../magicbyte/ui/page/text/answers.d.ts" */

/** @param {string} name @param {string} type @param {Partial<OutlineNode>} [more] @returns {OutlineNode} */
function field(name, type, more = {}) {
  return {
    path: `nyc.Flight.${name}`,
    name,
    kind: "field",
    type,
    default: null,
    doc: null,
    tags: [],
    number: null,
    aliases: [],
    optional: false,
    attributes: {},
    at: null,
    reference: null,
    children: [],
    ...more,
  };
}

/** @param {Change["kind"]} kind @param {OutlineNode | null} old @param {OutlineNode | null} fresh @returns {Change} */
function change(kind, old, fresh, what = /** @type {string[]} */ ([]), findings = /** @type {Finding[]} */ ([])) {
  const node = /** @type {OutlineNode} */ (fresh ?? old);
  return {
    path: node.path,
    name: node.name,
    kind,
    what,
    old,
    new: fresh,
    at: { old: old?.at ?? null, new: fresh?.at ?? null },
    leaves: 1,
    findings,
  };
}

/** @param {Finding["direction"]} direction @param {Partial<Finding>} [more] @returns {Finding} */
function finding(direction, more = {}) {
  return {
    rule: "TYPE_MISMATCH",
    severity: "error",
    path: "/fields/6/type",
    direction,
    version: 1,
    change: "The old schema has INT where the new schema has LONG.",
    new: { line: 1, column: 1 },
    old: null,
    breaks: "readers with version 1, on data written with the new schema",
    harm: "",
    remedy: "",
    fixes: [],
    example: null,
    exampleBytes: null,
    effect: null,
    message: "",
    ...more,
  };
}

const CHANGES = [
  change("changed", field("distance", "int"), field("distance", "long"), ["type"], [finding("FORWARD")]),
  change("added", null, field("source", "string", { default: '"first"' })),
  change("added", null, field("wheels_up", "null | timestamp-millis", { default: "null", optional: true })),
];

/** @param {Partial<Comparison>} [more] @returns {Comparison} */
function comparison(more = {}) {
  return {
    from: { subject: "flights-value", version: 1, id: 1, schemaType: "AVRO" },
    to: { subject: "flights-value", version: 3, id: 3, schemaType: "AVRO" },
    backward: { compatible: true, errors: 0, warnings: 0 },
    forward: { compatible: false, errors: 1, warnings: 0 },
    levels: { BACKWARD: true, FORWARD: false, FULL: false },
    policy: "STRICT",
    unchanged: 18,
    cut: false,
    changes: CHANGES,
    ...more,
  };
}

Deno.test("the verdicts are sentences with their reason", () => {
  equal(verdict(comparison(), "BACKWARD", "BACKWARD", "flights-value"), {
    ok: true,
    title: "Version 3 reads what version 1 wrote",
    reason: "Backward holds. Upgrade readers first: two new fields have defaults, and int is read as long.",
  });
  equal(verdict(comparison(), "FORWARD", "BACKWARD", "flights-value"), {
    ok: false,
    title: "Version 1 cannot read what version 3 writes",
    reason: "Forward breaks at one place. BACKWARD allows it; readers still on version 1 stop.",
  });
  equal(
    verdict(comparison(), "FORWARD", "FULL_TRANSITIVE", "flights-value").reason,
    "Forward breaks at one place. FULL_TRANSITIVE refuses it; readers still on version 1 stop.",
  );
  equal(
    verdict(comparison(), "FORWARD", null, "flights-value").reason,
    "Forward breaks at one place. Readers still on version 1 stop.",
  );
});

Deno.test("a comparison with another subject names the subject", () => {
  const from = { subject: "flights-eu", version: 2, id: 9, schemaType: "AVRO" };
  equal(
    verdict(comparison({ from }), "BACKWARD", null, "flights-value").title,
    "Version 3 reads what version 2 of flights-eu wrote",
  );
});

Deno.test("a note names the broken reader and the writer of its data", () => {
  equal(
    headlineOf(finding("FORWARD"), comparison(), "flights-value"),
    "Breaks readers with version 1, on data written with version 3",
  );
  equal(
    headlineOf(finding("BACKWARD", { severity: "warning" }), comparison(), "flights-value"),
    "May break readers with version 3, on data written with version 1",
  );
});

Deno.test("the verdict names the readers that a change breaks", () => {
  equal(effectOf([]), { ok: true, text: "both ways" });
  equal(effectOf([finding("FORWARD")]), { ok: false, text: "old readers" });
  equal(effectOf([finding("BACKWARD")]), { ok: false, text: "new readers" });
  equal(effectOf([finding("BACKWARD"), finding("FORWARD")]), { ok: false, text: "both ways" });
  equal(effectOf([finding("BACKWARD", { severity: "warning" })]), { ok: null, text: "caution" });
});

Deno.test("changes in lines and in a few words", () => {
  equal(CHANGES.map(changeLines), [["int → long"], ['string = "first"'], ["null | timestamp-millis = null"]]);
  equal(CHANGES.map(shortChange), ["distance int → long", '+ source = "first"', "+ wheels_up = null"]);
  const renamed = change("renamed", field("dest", "string"), field("destination", "string"), ["name", "aliases"]);
  equal(shortChange(renamed), "dest → destination");
  equal(shortChange({ ...renamed, fieldPath: "legs[].destination" }), "legs[].dest → destination");
  equal(shortChange({ ...CHANGES[0], fieldPath: "legs[].distance" }), "legs[].distance int → long");
  equal(shortChange({ ...CHANGES[2], fieldPath: "legs[].wheels_up" }), "+ legs[].wheels_up = null");
  const tagged = change("changed", field("a", "int"), field("a", "int", { tags: ["PII"], doc: "x" }), ["tags", "doc"]);
  equal(changeLines(tagged), ["+ tag PII", "doc added"]);
});

Deno.test("a finding has a row in the pretty text, and its note follows the end of its object", () => {
  const text = (/** @type {string} */ type) =>
    `{"type":"record","name":"F","fields":[{"name":"distance","type":"${type}"}]}`;
  const [before, after] = [text("int"), text("long")].map((stored) =>
    textOf(layOutSmall({ text: stored, type: "AVRO" }))
  );
  const rows = diffLines(before.layout, after.layout) ?? [];
  const finder = new RowFinder(rows, before, after);
  const column = text("long").indexOf('"type":"long"') + 1;
  const found = finding("FORWARD", { new: { line: 1, column } });
  equal(rows[finder.rowOf(found)].new, 7);
  const changes = [change("changed", field("distance", "int"), field("distance", "long"), ["type"], [found])];
  equal([...finder.hints(changes).keys()].map((row) => rows[row].new), [8]);
});

Deno.test("a unified text has removed lines before added lines", () => {
  const row = (/** @type {number} */ old, /** @type {number} */ fresh, same = false) => (
    { old, new: fresh, same, oldMarks: [], newMarks: [] }
  );
  const rows = [row(1, 1, true), row(2, 2), row(3, 3), row(0, 4), row(4, 5, true)];
  equal(unifiedOf(rows).map(({ index, side }) => `${index} ${side}`), [
    "0 same",
    "1 old",
    "2 old",
    "1 new",
    "2 new",
    "3 new",
    "4 same",
  ]);
});

Deno.test("the name of the type that a text defines", () => {
  equal(recordName('{"type":"record","name":"Flight","namespace":"nyc","fields":[]}', "AVRO"), "nyc.Flight");
  equal(recordName('{"type":"record","name":"a.B","namespace":"c"}', "AVRO"), "a.B");
  equal(recordName('"string"', "AVRO"), "");
  equal(recordName('{"title":"User"}', "JSON"), "User");
  equal(
    recordName('// x\nsyntax = "proto3";\npackage acme.orders;\nmessage Order {}', "PROTOBUF"),
    "acme.orders.Order",
  );
  equal(recordName("{", "AVRO"), "");
});
