/** The fields of an outline as flat rows. Pure. */

/** @typedef {import("../../text/answers.d.ts").OutlineNode} OutlineNode */
/** @typedef {{before: string, name: string, type: string}} FieldRow `before`: the path of the enclosing field */

const FIELDS = new Set(["field", "property"]);
const DEEPEST = 3;

/**
 * The fields in the order of the text. Fields of nested records follow with their path: `lines[].sku`.
 * @param {OutlineNode} root
 * @returns {FieldRow[]}
 */
export function fieldRows(root) {
  /** @type {FieldRow[]} */
  const rows = [];
  walk(root, "", 0, rows);
  if (rows.length === 0 && root.type) rows.push({ before: "", name: root.name || "value", type: line(root) });
  return rows;
}

/** @param {OutlineNode} node @param {string} before @param {number} depth @param {FieldRow[]} rows */
function walk(node, before, depth, rows) {
  for (const child of node.children ?? []) {
    if (!FIELDS.has(child.kind)) {
      walk(child, before, depth, rows);
      continue;
    }
    const inner = (child.children ?? []).some(hasFields);
    if (!inner || depth + 1 >= DEEPEST) {
      rows.push({ before, name: child.name, type: line(child) });
      continue;
    }
    walk(
      child,
      (before ? before + "." : "") + child.name + (/^(array|repeated|list)\b|\[\]/.test(child.type) ? "[]" : ""),
      depth + 1,
      rows,
    );
  }
}

/** @param {OutlineNode} node @returns {boolean} */
const hasFields = (node) => FIELDS.has(node.kind) || (node.children ?? []).some(hasFields);

/** @param {OutlineNode} node */
const line = (node) =>
  (node.type || node.kind) + (node.default === null || node.default === undefined ? "" : ` = ${node.default}`);
