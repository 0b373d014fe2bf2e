import { path, printQuery } from "../../../../magicbyte/ui/page/api/encode_url.js";
import { href, readUrl } from "../../../../magicbyte/ui/page/state/routes.js";
import { ROWS } from "../../../../magicbyte/ui/page/state/route_table.js";
import { VIEWS } from "../../../../magicbyte/ui/page/view_modules.js";
import { equal } from "../generated.js";

const ROOT = "/sr/ui/";

/** @param {string} address */
const read = (address) => readUrl("http://registry:8081" + address, ROOT);

Deno.test("a URL is read into the row, its values and the query", () => {
  const { row, params, query, hash, context } = read("/sr/ui/subjects/flights-value/compare?from=1&to=3#L32");
  equal(row?.path, "/subjects/{subject}/compare");
  equal(params, { subject: "flights-value" });
  equal(query, { from: "1", to: "3" });
  equal([hash, context], ["L32", ""]);
});

Deno.test("a context comes before the path", () => {
  const { path, params, context } = read("/sr/ui/contexts/.eu/subjects/orders-value/edit");
  equal([path, params.subject, context], ["/subjects/orders-value/edit", "orders-value", ".eu"]);
  equal(read("/sr/ui/contexts/.eu").row?.path, "");
});

Deno.test("a subject with special characters of paths keeps its name", () => {
  for (const subject of ["a/b %2F?#é", ":.ctx:x", "new", "100%", "versions", "<img onerror=alert(1)>", "‮evil", " "]) {
    const address = path`/subjects/${subject}/edit`;
    equal(read("/sr/ui" + address).params, { subject });
  }
});

Deno.test("a lone percent sign that someone typed does not break the page", () => {
  equal(read("/sr/ui/subjects/100%/edit").params, { subject: "100%" });
});

Deno.test("a path without a page has no row", () => {
  equal(read("/sr/ui/nowhere").row, null);
  equal(read("/sr/ui/subjects//edit").row, null);
});

Deno.test("the query has no empty values", () => {
  equal(
    printQuery({ q: "refund settled", own: true, deleted: false, type: "", peek: null, page: 0 }),
    "?q=refund+settled&own=true&page=0",
  );
  equal(printQuery({}), "");
});

Deno.test("a query is read as it was written", () => {
  const query = { q: 'a&b=c #"', peek: "a/b %2F?#é" };
  equal(read("/sr/ui/subjects" + printQuery(query)).query, query);
});

Deno.test("an address has the context and the hash", () => {
  equal(href("/subjects", { q: "x" }, { context: ".eu", hash: "L3" }).endsWith("/contexts/.eu/subjects?q=x#L3"), true);
});

Deno.test("each row has a path of its own and a title", () => {
  const paths = ROWS.map((row) => row.path.replace(/\{\w+\}/g, "{}"));
  equal(new Set(paths).size, paths.length);
  for (const row of ROWS) equal(typeof row.title({ subject: "s", version: "1", id: "1", topic: "t" }, {}), "string");
});

Deno.test("each row names a view, and each view has a row", () => {
  equal([...new Set(ROWS.map((row) => row.view))].sort(), Object.keys(VIEWS).sort());
});
