import { nearestNames } from "../../../../magicbyte/ui/page/search/nearest.js";
import { equal } from "../generated.js";

Deno.test("the nearest names come first, and unlike names are missing", () => {
  const names = ["customers-value", "flights-key", "flights-value", "orders-value"];
  equal(nearestNames(names, "flight-valu"), ["flights-value", "flights-key"]);
  equal(nearestNames(names, "Flights-Value"), ["flights-value", "flights-key", "orders-value"]);
  equal(nearestNames(names, "zzz"), []);
  equal(nearestNames([], "flights"), []);
});
