import { holdersOf, treeOf, usersOf } from "../../../../magicbyte/ui/page/views/references/tree.js";
import { nextStep, rowsOf } from "../../../../magicbyte/ui/page/views/evolution/rows.js";
import { sinceOf } from "../../../../magicbyte/ui/page/views/version/since.js";
import { SNIPPETS, topicOf } from "../../../../magicbyte/ui/page/views/version/snippets.js";
import { hashOf, rangeOf } from "../../../../magicbyte/ui/page/views/code/code_lines.js";
import { equal } from "../generated.js";

/** @param {number} from @param {number} to @param {any[]} changes @param {[boolean, boolean]} [verdicts] @returns {any} */
function step(from, to, changes, [backward, forward] = [true, true]) {
  return {
    from: { subject: "s", version: from },
    to: { subject: "s", version: to },
    backward: { compatible: backward },
    forward: { compatible: forward },
    changes,
  };
}

const node = (/** @type {string} */ path) => ({ path, name: path, default: null });
const added = (/** @type {string} */ path) => ({
  kind: "added",
  path,
  name: path,
  what: [],
  old: null,
  new: node(path),
});
const renamed = (/** @type {string} */ old, /** @type {string} */ path) => (
  { kind: "renamed", path, name: path, what: ["name"], old: node(old), new: node(path) }
);

Deno.test("a field names its first version, also after a rename", () => {
  const steps = [step(2, 3, [added("c"), renamed("b", "d")]), step(1, 2, [added("b")])];
  equal(Object.fromEntries(sinceOf(["a", "c", "c.x", "d"], steps, 3)), { c: "v3", "c.x": "v3", d: "v2", a: "v1" });
});

Deno.test("an incomplete history shows that the field may be older", () => {
  equal(sinceOf(["a"], [step(4, 5, [])], 5).get("a"), "v4 or before");
  equal(sinceOf(["a"], [], 1).get("a"), "v1");
});

Deno.test("each version has its changes and its compatibility", () => {
  const entry = (/** @type {number} */ version, deleted = false) => (
    { subject: "s", version, id: version, ts: 1, latest: version === 4, deleted }
  );
  const rows = rowsOf([entry(4), entry(3, true), entry(2), entry(1)], [
    step(2, 4, ["a", "b", "c", "d", "e"].map(added), [false, false]),
    step(1, 2, [], [true, false]),
  ]);
  equal(rows.map(({ version, before, compatibility, more }) => ({ version, before, compatibility, more })), [
    { version: 4, before: 2, compatibility: "none", more: 1 },
    { version: 3, before: null, compatibility: "unknown", more: 0 },
    { version: 2, before: 1, compatibility: "half", more: 0 },
    { version: 1, before: null, compatibility: "unknown", more: 0 },
  ]);
  equal(rows[0].changes, ["+ a", "+ b", "+ c", "+ d"]);
});

Deno.test("comparisons continue to the oldest live version", () => {
  const entry = (/** @type {number} */ version, deleted = false) => (
    { subject: "s", version, id: version, ts: 1, latest: version === 4, deleted }
  );
  const entries = [entry(4), entry(3), entry(2), entry(1, true)];
  equal(nextStep(entries, [step(3, 4, [])]), 3);
  equal(nextStep(entries, [step(3, 4, []), step(2, 3, [])]), null);
  equal(nextStep(entries, []), null);
  const rows = rowsOf(entries, [step(3, 4, [])]);
  equal(rows.map(({ before, isOldest }) => ({ before, isOldest })), [
    { before: 3, isOldest: false },
    { before: 2, isOldest: false },
    { before: null, isOldest: false },
    { before: null, isOldest: true },
  ]);
});

Deno.test("a graph becomes two trees, and its cycles end", () => {
  const at = (/** @type {string} */ subject) => (
    { subject, version: 1, id: 1, schemaType: "AVRO", deleted: false, distance: 0 }
  );
  const edge = (/** @type {number} */ from, /** @type {number} */ to) => ({ from, to, name: `${from}-${to}` });
  const graph = {
    nodes: ["s", "a", "b", "c"].map(at),
    edges: [edge(0, 1), edge(1, 2), edge(2, 0), edge(3, 0)],
    cut: false,
  };
  const shape = (/** @type {any} */ branch) => [branch.node.subject, branch.again, branch.children.map(shape)];
  equal(treeOf(graph, "references").map(shape), [["a", false, [["b", false, [["s", true, []]]]]]]);
  equal(treeOf(graph, "referrers").map(shape), [["b", false, [["a", false, [["s", true, []]]]]], ["c", false, []]]);
  equal(holdersOf(graph).map((holder) => holder.subject), ["b", "c"]);
  equal(usersOf(graph), { versions: 3, subjects: 3 });
  equal(usersOf({ ...graph, edges: [edge(1, 0), edge(2, 0)], nodes: ["s", "a", "a"].map(at) }), {
    versions: 2,
    subjects: 1,
  });
});

Deno.test("fragments name lines", () => {
  equal([rangeOf("L3"), rangeOf("L9-L3"), rangeOf("L3-9"), rangeOf("x")], [[3, 3], [3, 9], [3, 9], null]);
  equal([hashOf([3, 3]), hashOf([3, 9])], ["L3", "L3-L9"]);
});

Deno.test("programs name the registry, the subject and the version, and quote special characters", () => {
  const facts = {
    registry: "http://localhost:8081",
    subject: 'a "b"-key',
    topic: "a $b",
    version: 3,
    id: 7,
    type: "JSON",
  };
  const written = Object.fromEntries(SNIPPETS.map(([name, write]) => [name, write(facts)]));
  equal(Object.keys(written), ["Python", "Java", "Node", "Go", "magicbyte produce", "Spark"]);
  equal(written.Python.includes('client.get_version("a \\"b\\"-key", 3)'), true);
  equal(
    written["magicbyte produce"],
    "magicbyte produce 'a $b' --schema-registry-url http://localhost:8081 --key-schema-id 7\n",
  );
  equal(written.Spark.includes('from_confluent_json("key", subject="a \\"b\\"-key"'), true);
  equal([topicOf("flights-value"), topicOf("a-key-key"), topicOf("x")], ["flights", "a-key", ""]);
});
