import { matching, namesOf, sorted } from "../../../../magicbyte/ui/page/search/matching.js";
import { asksRegistry, marked, namesSchema, readQuery } from "../../../../magicbyte/ui/page/search/query.js";
import { equal } from "../generated.js";

/** @param {Record<string, any>[]} rows @returns {any} */
function listing(rows) {
  const columns = {
    subject: "s",
    type: "AVRO",
    version: 1,
    versions: 1,
    deletedVersions: 0,
    deleted: false,
    id: 1,
    ts: 1,
    references: 0,
    level: "BACKWARD",
    ownLevel: false,
    mode: "READWRITE",
    ownMode: false,
  };
  return {
    offset: 0,
    total: rows.length,
    ...Object.fromEntries(
      Object.entries(columns).map(([name, usual]) => [name, rows.map((row) => row[name] ?? usual)]),
    ),
  };
}

const LISTING = listing([
  { subject: ":.eu:refund.settled-value" },
  { subject: "billing.Refund.settled.v1-value", id: 12, ts: 5, ownLevel: true, level: "FULL" },
  { subject: "billing.refund.opened-value", type: "JSON", id: 1200, ts: 9, versions: 3 },
  { subject: "gone.refund.settled-value", deleted: true },
  { subject: "orders-key", type: "PROTOBUF", id: 7, ts: 7 },
]);

/** @param {string} typed @param {any} [chips] @param {string} [context] */
function names(typed, chips = {}, context = "") {
  const { rows } = matching(LISTING, readQuery(typed), context, chips);
  return rows.map((row) => namesOf(LISTING).name[row]);
}

Deno.test("all words must be in the name, in any order and case", () => {
  equal(names("refund settled"), ["billing.Refund.settled.v1-value"]);
  equal(names("SETTLED refund"), ["billing.Refund.settled.v1-value"]);
  equal(names("refund closed"), []);
  equal(names("").length, 3);
});

Deno.test("a number is an id as well as a part of a name", () => {
  equal(names("12"), ["billing.Refund.settled.v1-value"]);
  equal(names("id:7"), ["orders-key"]);
  equal(names("1"), ["billing.Refund.settled.v1-value"]);
});

Deno.test("words with a name in front", () => {
  equal(names("type:proto"), ["orders-key"]);
  equal(names("level:full"), ["billing.Refund.settled.v1-value"]);
  equal(names("topic:orders"), ["orders-key"]);
  equal(names("context:.eu refund"), ["refund.settled-value"]);
  equal(names("deleted:true"), ["gone.refund.settled-value"]);
  equal(readQuery("field:order_id tag:PII rest").words, ["rest"]);
  equal(asksRegistry(readQuery("field:order_id")), true);
  equal(asksRegistry(readQuery("refund type:avro")), false);
  equal(readQuery('text:"a b" :.eu:x http://y').words, [":.eu:x", "http://y"]);
  equal(readQuery('text:"a b"').text, "a b");
});

Deno.test("chips count the rows that would remain", () => {
  const { rows, counts } = matching(LISTING, readQuery("refund"), "", { type: "AVRO" });
  equal(rows.length, 1);
  equal(
    [counts.all, counts.AVRO, counts.JSON, counts.PROTOBUF, counts.own, counts.deleted, counts.elsewhere, counts.total],
    [2, 1, 1, 0, 1, 1, 1, 3],
  );
  equal(names("refund", { deleted: true }), ["gone.refund.settled-value"]);
  equal(names("", { own: true }), ["billing.Refund.settled.v1-value"]);
  equal(names("", {}, ".eu"), ["refund.settled-value"]);
});

Deno.test("rows are sorted by a column, either way", () => {
  const { rows } = matching(LISTING, readQuery(""), "", {});
  /** @param {string} sort */
  const ids = (sort) => sorted(LISTING, rows, sort).map((row) => LISTING.id[row]);
  equal(ids(""), [12, 1200, 7]);
  equal(ids("-name"), [7, 1200, 12]);
  equal(ids("-changed"), [1200, 7, 12]);
  equal(ids("type"), [12, 1200, 7]);
});

Deno.test("the words are marked in the name", () => {
  equal(marked("a.refund.b", ["refund"]), [{ text: "a.", hit: false }, { text: "refund", hit: true }, {
    text: ".b",
    hit: false,
  }]);
  equal(marked("aab", ["aa", "ab"]), [{ text: "aa", hit: true }, { text: "b", hit: true }]);
  equal(marked("İx", ["x"]), [{ text: "İx", hit: false }]);
  equal(marked("abc", []), [{ text: "abc", hit: false }]);
});

Deno.test("20,000 names are searched in the time of a frame", () => {
  const many = listing(
    Array.from({ length: 20_000 }, (_, i) => ({ subject: `domain${i % 50}.event.name.v${i}-value`, id: i })),
  );
  matching(many, readQuery("warm up"), "", {});
  const started = performance.now();
  const { rows } = matching(many, readQuery("event v199"), "", {});
  equal(rows.length, 111);
  // A frame is 16 ms; the bound leaves room for a loaded machine.
  equal(performance.now() - started < 200, true);
});

Deno.test("an id or a guid finds the subjects that have it in any version, and a number the names too", () => {
  const guid = "095d71cf-1255-6b9d-5e33-0ad575b3df5d";
  const holders = new Map([["billing.refund.opened-value", 2]]);
  const found = (/** @type {string} */ typed, /** @type {any} */ held = null) =>
    matching(LISTING, readQuery(typed), "", {}, null, held).rows.map((row) => namesOf(LISTING).name[row]);
  equal(found("529"), []);
  equal(found("529", holders), ["billing.refund.opened-value"]);
  equal(found("id:529", holders), ["billing.refund.opened-value"]);
  equal(found("7", holders), ["billing.refund.opened-value", "orders-key"]);
  equal(found("1", new Map()), ["billing.Refund.settled.v1-value"]);
  equal(found(guid, holders), ["billing.refund.opened-value"]);
  equal(found(`guid:${guid}`, holders), ["billing.refund.opened-value"]);
  equal(found(guid), []);
  equal(found("id:529 refund", holders), ["billing.refund.opened-value"]);
  equal(found("id:529 orders", holders), []);
  equal([namesSchema(readQuery("529")), namesSchema(readQuery(guid)), namesSchema(readQuery("id:x"))], [
    true,
    true,
    false,
  ]);
});
