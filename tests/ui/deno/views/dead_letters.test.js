import { letterTopics } from "../../../../magicbyte/ui/page/views/kafka/letter_topics.js";
import {
  conditionOf,
  fixCommand,
  letterRequest,
  mostOf,
  picksOf,
  purgeCommand,
  repairOf,
  replayCommand,
} from "../../../../magicbyte/ui/page/views/dead_letters/letter_request.js";
import { equal } from "../generated.js";

const GUID = "01234567-89ab-cdef-0123-456789abcdef";

/** @param {string} text */
const queryOf = (text) => Object.fromEntries(new URLSearchParams(text));

Deno.test("names and note topics identify dead-letter topics", () => {
  const names = ["orders", "orders-dead", "orders.DLT", "dead-letters", "my_dlq", "deadline", "errors.all", "terrors"];
  equal(letterTopics([...names, "paid", "paid.state", "orders-dead.state"]), [
    "dead-letters",
    "errors.all",
    "my_dlq",
    "orders-dead",
    "orders.DLT",
    "paid",
  ]);
});

/** The query of a URL, and the request. @type {[string, Record<string, unknown>][]} */
const REQUESTS = [
  ["", {}],
  ["by=pipeline&group=app", { by: "pipeline", group: "app" }],
  ["by=color", {}],
  ["where=+stage+%3D+'TASK_PUT'+", { where: "stage = 'TASK_PUT'" }],
  ["since=1970-01-01T00:00:01Z&until=5000", { since: 1000, until: 5000 }],
  ["replayed=true", { replayed: true }],
  ["replayed=false", { replayed: false }],
  ["replayed=perhaps", {}],
];

Deno.test("a URL keeps the selection of letters", () => {
  for (const [query, wanted] of REQUESTS) {
    equal(
      Object.entries(letterRequest("t", queryOf(query))).sort(),
      Object.entries({ topic: "t", by: "reason", letters: 100, ...wanted }).sort(),
    );
  }
  equal(letterRequest("t", {}, ".eu").context, ".eu");
});

/** The query of a URL, and the condition of the command. @type {[string, string][]} */
const CONDITIONS = [
  ["", ""],
  ["where=a+OR+b", "a OR b"],
  ["where=a+OR+b&group=1f", "(a OR b) AND fingerprint = '1f'"],
  ["by=topic&group=it's", "topic = 'it''s'"],
  ["by=topic&group=-", "coalesce(topic, '') = ''"],
  ["by=pipeline&group=app&until=5000", "pipeline = 'app' AND letter_time < 5000"],
  ["by=schema-id&group=7", "schema_id = 7"],
  ["by=schema-id&group=-", "schema_id IS NULL AND schema_guid IS NULL"],
  [`by=schema-id&group=${GUID}`, `schema_guid = '${GUID}'`],
  ["where=a&pick=0:1,0:3", "letter_partition = 0 AND letter_offset IN (1, 3)"],
  [
    "pick=0:1,2:3",
    "(letter_partition = 0 AND letter_offset IN (1)) OR (letter_partition = 2 AND letter_offset IN (3))",
  ],
];

Deno.test("the condition of the command selects the same letters", () => {
  for (const [query, condition] of CONDITIONS) equal(conditionOf(queryOf(query)), condition);
});

Deno.test("the command is one line of a shell", () => {
  equal(
    fixCommand("flights-dead", queryOf("by=topic&group=it's&to=copy&values=json&again=true&since=1000")),
    `magicbyte dead-letter replay flights-dead --where 'topic = '\\''it'\\'''\\''s'\\''' --from 1000 --to-topic copy ` +
      "--value-format json --again --fix-with fix.py --dry-run",
  );
  equal(fixCommand("t", {}), "magicbyte dead-letter replay t --fix-with fix.py --dry-run");
  equal(
    replayCommand("t", queryOf("schema=7&part=key&pick=0:1&since=1000")),
    "magicbyte dead-letter replay t --where 'letter_partition = 0 AND letter_offset IN (1)' --schema-id 7 --part key " +
      "--dry-run",
  );
  equal(purgeCommand("t"), "magicbyte dead-letter purge t --replayed --dry-run");
});

Deno.test("picks and limits of a URL are bounded", () => {
  equal(picksOf({ pick: "0:42,1:7" }), [{ partition: 0, offset: 42 }, { partition: 1, offset: 7 }]);
  equal(picksOf({ pick: "0:42,x" }), []);
  equal(picksOf({ pick: Array.from({ length: 300 }, (_, i) => `0:${i}`).join(",") }).length, 200);
  equal([mostOf({}), mostOf({ max: "0" }), mostOf({ max: "7" }), mostOf({ max: "99999" }), mostOf({ max: "x" })], [
    100,
    1,
    7,
    2000,
    100,
  ]);
});

Deno.test("a repair has the form that the proxy accepts, or names its fault", () => {
  equal(repairOf({ to: "copy", schema: "7", part: "key", keys: "json", values: "auto", again: "true" }), {
    repair: { to_topic: "copy", schema_id: 7, part: "key", key_format: "json", again: true },
    problem: "",
  });
  equal(repairOf({}), { repair: {}, problem: "" });
  equal(repairOf({ schema: "seven" }).problem, "A schema id is a whole number below 2147483648.");
  equal(repairOf({ schema: "2147483648" }).problem, "A schema id is a whole number below 2147483648.");
  equal(repairOf({ to: "a b" }).problem, "A topic's name has letters, digits, dots, - and _ only.");
});
