import {
  askRightsAgain,
  forgetRights,
  lackOf,
  learn,
  rightsRound,
  stale,
} from "../../../../magicbyte/ui/page/state/rights.js";
import { equal } from "../generated.js";

const FEW = { someSubject: ["READ", "WRITE"], settings: [], registry: [] };

Deno.test("an action lacks the operations that the registry does not list", () => {
  forgetRights();
  equal(lackOf("register", "a", ""), "");
  learn("", { a: ["READ"], b: ["READ", "WRITE", "DELETE"] }, FEW);
  learn(".eu", {}, { someSubject: [], settings: ["ALTER_CONFIGS"], registry: [] });
  const cases = /** @type {[string, string, string, string][]} */ ([
    ["register", "a", "", "You lack the right WRITE on the subject a."],
    ["register", "b", "", ""],
    ["register", "unknown", "", ""],
    ["register", "", "", ""],
    ["register", "", ".eu", "You lack the right WRITE on any subject."],
    ["undelete", "a", "", "You lack the rights WRITE and DELETE on the subject a."],
    ["purge", "b", "", ""],
    ["config", "b", "", "You lack the right ALTER_CONFIGS on the subject b."],
    ["mode", "", "", "You lack the right ALTER_CONFIGS on the registry."],
    ["mode", "", ".eu", ""],
    ["import", "", "", "You lack the right ALTER_CONFIGS on any subject."],
    ["import", "", ".eu", ""],
    ["tags", "a", "", "You lack the right WRITE on the subject a."],
    ["produce", "a", "", ""],
  ]);
  for (const [action, subject, context, lack] of cases) equal(lackOf(action, subject, context), lack);
});

Deno.test("the page asks for rights again after a refusal, and forgets rights when another user signs in", () => {
  forgetRights();
  equal(stale(["context ", "a"]), ["context ", "a"]);
  equal(stale(["context ", "a", "b"]), ["b"]);
  learn("", { a: [] }, FEW);
  const round = rightsRound.peek();
  askRightsAgain();
  equal(rightsRound.peek(), round + 1);
  equal(stale(["a"]), ["a"]);
  equal(lackOf("delete", "a", ""), "You lack the right DELETE on the subject a.");
  forgetRights();
  equal(lackOf("delete", "a", ""), "");
});
