import { placesOf } from "../../../../magicbyte/ui/page/views/groups/lag_table.js";
import { lagOf } from "../../../../magicbyte/ui/page/views/groups/lags.js";
import { effectOf } from "../../../../magicbyte/ui/page/views/groups/reset.js";
import { readPlaces, targetsOf, writePlaces } from "../../../../magicbyte/ui/page/views/groups/reset_target.js";
import { inherited, nameProblem } from "../../../../magicbyte/ui/page/views/topics/configs/meanings.js";
import { bytes } from "../../../../magicbyte/ui/page/views/brokers/bytes.js";
import { equal } from "../generated.js";

Deno.test("the address has topics and their partitions", () => {
  for (const text of ["orders", "orders:0,2;payments", ""]) equal(writePlaces(readPlaces(text)), text);
  equal([...readPlaces("orders:0,2;payments")], [["orders", "0,2"], ["payments", ""]]);
});

Deno.test("a reset has one target for each topic or partition", () => {
  const targets = (/** @type {string} */ to, /** @type {string} */ at, topics = "orders") =>
    targetsOf({ to, at, topics });
  equal(targets("earliest", "").targets, [{ topic_name: "orders", to: "earliest" }]);
  equal(targets("latest", "", "orders:0,2;payments").targets, [
    { topic_name: "orders", partition_id: 0, to: "latest" },
    { topic_name: "orders", partition_id: 2, to: "latest" },
    { topic_name: "payments", to: "latest" },
  ]);
  equal(targets("offset", "12").targets, [{ topic_name: "orders", offset: 12 }]);
  equal(targets("time", "2026-01-01T00:00:00Z").targets, [{
    topic_name: "orders",
    timestamp: "2026-01-01T00:00:00.000Z",
  }]);
  equal(targets("shift", "-10").targets, [{ topic_name: "orders", shift_by: -10 }]);
  // A shift needs a committed offset.
  equal(targetsOf({ to: "shift", at: "5", topics: "orders" }, new Map([["orders", [1]]])).targets, [
    { topic_name: "orders", partition_id: 1, shift_by: 5 },
  ]);
});

Deno.test("a reset that is not complete says what is missing", () => {
  const problem = (/** @type {string} */ to, /** @type {string} */ at, topics = "orders") =>
    targetsOf({ to, at, topics }).problem;
  equal(problem("offset", "-1"), "Write an offset: a whole number.");
  equal(problem("offset", "1.5"), "Write an offset: a whole number.");
  equal(problem("time", ""), "Choose a time.");
  equal(problem("shift", "ten"), "Write how far to shift: a whole number, negative to go back.");
  equal(problem("latest", "", ";"), "Choose a topic.");
  equal(problem("latest", "", "orders:1,x"), "Partitions of orders: write numbers with commas between, such as 0,2.");
});

Deno.test("the effect of a reset on a partition", () => {
  const effect = (/** @type {object} */ fields) =>
    effectOf(
      /** @type {any} */ ({
        from: 4,
        to: 4,
        wanted: 4,
        end: 10,
        skipped: 0,
        repeated: 0,
        ...fields,
      }),
    );
  equal(effect({}), "No change.");
  equal(effect({ to: 9, wanted: 9, skipped: 5 }), "5 skipped.");
  equal(effect({ to: 1, wanted: 1, repeated: 3 }), "3 repeated.");
  equal(effect({ to: 10, wanted: 99, skipped: 6 }), "6 skipped. The end is 10, before 99.");
  equal(effect({ to: 2, wanted: 0, repeated: 2 }), "2 repeated. The first record is at 2, after 0.");
  equal(
    effect({ from: null, to: 3, wanted: 3, skipped: null, repeated: null }),
    "Nothing is committed now. 7 records to read.",
  );
  equal(effect({ from: 1, to: 4, wanted: 4 }), "No record is skipped or repeated.");
});

Deno.test("a lag is unknown if no partition's lag is known", () => {
  const topic = (/** @type {object} */ fields) => ({
    topic: "t",
    partitions: 2,
    unknown: 0,
    total: 0,
    max: 0,
    ...fields,
  });
  equal(lagOf({ lags: [topic({ total: 3 }), topic({ total: 4, unknown: 1 })] }), { total: 7, unknown: 1 });
  equal(lagOf({ lags: [topic({ unknown: 2 })] }), { total: null, unknown: 2 });
  equal(lagOf({ lags: [] }), { total: 0, unknown: 0 });
  equal(lagOf({ lags: null }), { total: null, unknown: 0 });
});

Deno.test("the table shows partitions of members with and without commits", () => {
  const member = { id: "m", instance: "", client: "c", host: "h", places: [{ topic: "t", partition: 10 }] };
  const lag = { topic: "t", partition: 9, committed: 1, end: 4, lag: 3, client: "c", consumer: "m" };
  const places = placesOf(/** @type {any} */ ({ members: [member] }), [lag]);
  equal(places.map(({ partition, lag: behind, member: by }) => [partition, behind, by?.id]), [[9, 3, "m"], [
    10,
    null,
    "m",
  ]]);
});

Deno.test("the name of a topic keeps Kafka's rule", () => {
  equal(nameProblem("orders.v1_a-b"), "");
  equal(nameProblem("a".repeat(249)), "");
  equal(nameProblem("a".repeat(250)), "The name has 250 characters; Kafka takes 249.");
  equal(nameProblem(".."), "A topic cannot be called . or ..");
  equal(nameProblem("a b"), "Kafka takes letters A to Z, digits, dots, underscores and hyphens, not “ ”.");
  equal(nameProblem("ä"), "Kafka takes letters A to Z, digits, dots, underscores and hyphens, not “ä”.");
});

Deno.test("a reset property has the next synonym's value, or Kafka's default", () => {
  const config = {
    name: "retention.ms",
    value: "1",
    isReadOnly: false,
    isSensitive: false,
    source: "DYNAMIC_TOPIC_CONFIG",
  };
  const own = { name: "retention.ms", value: "1", source: "DYNAMIC_TOPIC_CONFIG" };
  const broker = { name: "log.retention.ms", value: "2", source: "STATIC_BROKER_CONFIG" };
  equal(inherited({ ...config, synonyms: [own, broker] }), broker);
  equal(inherited({ ...config, synonyms: [own] }), { value: "604800000 (7 days)", source: "DEFAULT_CONFIG" });
  equal(inherited({ ...config, name: "unknown", synonyms: [own] }), null);
});

Deno.test("sizes have at most four digits", () => {
  equal([0, 1023, 1024, 1536 * 1024, 24 * 2 ** 30].map(bytes), [
    "0 bytes",
    "1023 bytes",
    "1.0 KiB",
    "1.5 MiB",
    "24.0 GiB",
  ]);
});
