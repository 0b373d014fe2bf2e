import { absolute, ago, clock, isTime, timeOfDay } from "../../../../magicbyte/ui/page/parts/times.js";
import { equal } from "../generated.js";

const AT = Date.UTC(2026, 8, 5, 7, 8, 9, 42);
const MINUTE = 60_000;

Deno.test("a time in few words", () => {
  clock.value = "utc";
  equal(ago(AT, AT + 1000), "now");
  equal(ago(AT, AT + 5 * MINUTE), "5 min");
  equal(ago(AT, AT + 3 * 60 * MINUTE), "3 h");
  equal(ago(AT, AT + 30 * 60 * MINUTE), "yesterday");
  equal(ago(AT, AT + 3 * 24 * 60 * MINUTE), "3 days");
  equal(ago(AT, AT + 30 * 24 * 60 * MINUTE), "5 Sep");
  equal(ago(AT, AT + 300 * 24 * 60 * MINUTE), "5 Sep 2026");
});

Deno.test("an absolute time in the chosen clock", () => {
  clock.value = "utc";
  equal(absolute(AT), "5 Sep 2026, 07:08:09 UTC");
  equal(timeOfDay(AT), "07:08:09.042");
  clock.value = "local";
  const local = new Date(AT);
  const hours = String(local.getHours()).padStart(2, "0");
  const minutes = String(local.getMinutes()).padStart(2, "0");
  equal(absolute(AT), `${local.getDate()} Sep 2026, ${hours}:${minutes}:09`);
});

Deno.test("a number that is no time", () => {
  equal(isTime(AT), true);
  equal(isTime(2 ** 63), false);
  equal(isTime(NaN), false);
});
