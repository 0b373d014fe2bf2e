import { readEvents } from "../../../../magicbyte/ui/page/state/change_feed.js";
import { splitSubject } from "../../../../magicbyte/ui/page/text/split_subject.js";
import {
  listingOfNames,
  listingRow,
  newestFor,
  patched,
  withRow,
} from "../../../../magicbyte/ui/page/state/listing_columns.js";
import { linesOf } from "../../../../magicbyte/ui/page/views/list/exporting.js";
import { fieldRows } from "../../../../magicbyte/ui/page/views/list/field_rows.js";
import { equal } from "../generated.js";

Deno.test("a subject's context and name", () => {
  equal(splitSubject("orders"), { context: "", name: "orders" });
  equal(splitSubject(":.eu:orders:x"), { context: ".eu", name: "orders:x" });
  equal(splitSubject(":.:orders"), { context: "", name: "orders" });
});

Deno.test("the listing inserts, replaces and removes a row", () => {
  let listing = { ...listingOfNames(["a", "c"]), offset: 4 };
  const row = { .../** @type {any} */ (listingRow(listing, 0)), subject: "b", type: "JSON", versions: 2 };
  listing = withRow(listing, "b", row);
  equal(listing.subject, ["a", "b", "c"]);
  equal(listing.type, [null, "JSON", null]);
  listing = withRow(listing, "b", { ...row, versions: 3 });
  equal(listing.versions, [null, 3, null]);
  equal(withRow(listing, "b", null).subject, ["a", "c"]);
  equal(listingRow(listing, -1), null);
});

Deno.test("changes name the rows to read again", () => {
  const listing = listingOfNames(["a"]);
  const registered = { type: "schema.registered", subject: "a", offset: 7 };
  equal(patched(listing, [registered]), { listing: { ...listing, offset: 7 }, stale: ["a"], whole: false });
  equal(patched(listing, [{ type: "config.updated", subject: null, offset: 8 }]).whole, true);
  equal(patched(listing, [{ type: "reset", offset: 9 }]).whole, true);
});

Deno.test("the newest change that concerns a subject's row", () => {
  const changes = [
    { type: "schema.registered", subject: "b", offset: 9 },
    { type: "schema.registered", subject: "a", offset: 8 },
    { type: "config.updated", subject: null, offset: 7 },
    { type: "config.updated", subject: ":.eu:", offset: 6 },
  ];
  equal(newestFor("a", changes), 8);
  equal(newestFor("c", changes), 7);
  equal(newestFor("c", changes.slice(3)), 6);
  equal(newestFor("c", changes.slice(0, 2)), -1);
});

Deno.test("events are read from pieces of a stream", () => {
  const text =
    ': following\n\nid: 10\nevent: schema.registered\ndata: {"offset":10,"type":"schema.registered","subject":"a"}\n\nid: 1';
  equal(readEvents(text), { events: [{ type: "schema.registered", offset: 10, subject: "a" }], rest: "id: 1" });
});

Deno.test("an export of some subjects includes their references", () => {
  const lines = [
    { kind: "manifest", offset: 3 },
    { kind: "schema", subject: "base", version: 1 },
    { kind: "schema", subject: "base", version: 2 },
    { kind: "schema", subject: "a", version: 1, references: [{ name: "x", subject: "base", version: 1 }] },
    { kind: "config", subject: "a", config: {} },
    { kind: "config", subject: "base", config: {} },
    { kind: "end", lines: 6 },
  ].map((line) => JSON.stringify(line));
  const text = lines.join("\n") + "\n";
  equal(linesOf(text, new Set(["a"])), { lines: [lines[1], lines[3], lines[4]], missing: [] });
  equal(linesOf(text, new Set(["hidden", "a"])).missing, ["hidden"]);
});

/** @param {string} name @param {string} type @param {any[]} [children] @param {string | null} [fallback] @returns {any} */
const field = (name, type, children = [], fallback = null) => ({
  kind: "field",
  name,
  type,
  default: fallback,
  children,
});

Deno.test("fields are flat rows with the path of the outer field", () => {
  const line = {
    kind: "record",
    name: "Line",
    type: "record",
    children: [field("sku", "string"), field("quantity", "int", [], "1")],
  };
  const root = {
    kind: "record",
    name: "R",
    type: "record",
    children: [field("id", "uuid"), field("lines", "array of Line", [line])],
  };
  equal(fieldRows(/** @type {any} */ (root)), [
    { before: "", name: "id", type: "uuid" },
    { before: "lines[]", name: "sku", type: "string" },
    { before: "lines[]", name: "quantity", type: "int = 1" },
  ]);
  equal(fieldRows(/** @type {any} */ ({ kind: "primitive", name: "", type: "string", default: null, children: [] })), [
    { before: "", name: "value", type: "string" },
  ]);
});
