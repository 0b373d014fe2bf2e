import {
  orderOf,
  searchRequest,
  splitKind,
  timeOf,
} from "../../../../magicbyte/ui/page/views/topics/messages/search_request.js";
import { equal } from "../generated.js";

const MORE = { topic: "t", limit: 50 };

/** The query of a URL, and the request. @type {[string, Record<string, unknown>][]} */
const REQUESTS = [
  ["", { ...MORE, order: "newest" }],
  ["order=oldest", { ...MORE, order: "oldest" }],
  ["order=up", { ...MORE, order: "newest" }],
  ["partition=2&offset=7&open=2-7", { ...MORE, order: "oldest", partitions: [2], offset: 7 }],
  ["offset=7&order=newest", { ...MORE, order: "newest", offset: 7 }],
  ["offset=x", { ...MORE, order: "newest" }],
  ["since=1970-01-01T00:00:01Z&until=5000", { ...MORE, order: "oldest", since: 1000, until: 5000 }],
  ["until=never", { ...MORE, order: "newest" }],
  ["cursor=0:42,1:17", { ...MORE, order: "newest", cursor: "0:42,1:17" }],
  ["q=+value.id+%3D+7+", { ...MORE, order: "newest", filter: "value.id = 7" }],
  ["q=+", { ...MORE, order: "newest" }],
  ["key=long&value=schema:7", { ...MORE, order: "newest", keyAs: "long", valueAs: "schema:7" }],
  ["key=message&value=schema", { ...MORE, order: "newest" }],
  ["raw=true", { ...MORE, order: "newest", logical: false, unions: "tagged" }],
];

Deno.test("a URL keeps the selection of messages", () => {
  for (const [query, wanted] of REQUESTS) {
    const asked = searchRequest("t", Object.fromEntries(new URLSearchParams(query)));
    equal(Object.entries(asked).sort(), Object.entries(wanted).sort());
  }
  equal(searchRequest("t", {}, ".eu").context, ".eu");
});

Deno.test("records from an offset or a time on are in their order", () => {
  equal([orderOf({}), orderOf({ offset: "0" }), orderOf({ since: "1" }), orderOf({ until: "1" })], [
    "newest",
    "oldest",
    "oldest",
    "newest",
  ]);
});

Deno.test("a time is ms or ISO-8601", () => {
  equal(["0", "1700000000000", "2026-01-01", "", "soon", "-1"].map((text) => timeOf(text)), [
    0,
    1700000000000,
    1767225600000,
    undefined,
    undefined,
    undefined,
  ]);
});

Deno.test("a kind of message may have a schema id", () => {
  equal([splitKind(), splitKind("long"), splitKind("schema"), splitKind("schema:7")], [
    { kind: "message", id: "" },
    { kind: "long", id: "" },
    { kind: "schema", id: "" },
    { kind: "schema", id: "7" },
  ]);
});
