/** The graph of references as two trees around its start. Cycles and repeated nodes end a branch. Pure. */

/**
 * @typedef {{subject: string, version: number, id: number, schemaType: string, deleted: boolean, distance: number}} Node
 * @typedef {{nodes: Node[], edges: {from: number, to: number, name: string}[], cut: boolean}} Graph
 * @typedef {{node: Node, name: string, again: boolean, children: Branch[]}} Branch `name` is the name in the text;
 *   `again`: the node already appears elsewhere in the tree
 */

/**
 * @param {Graph} graph
 * @param {"references" | "referrers"} direction
 * @returns {Branch[]}
 */
export function treeOf(graph, direction) {
  const down = direction === "references";
  /** @type {Map<number, {to: number, name: string}[]>} */
  const ways = new Map();
  for (const { from, to, name } of graph.edges) {
    const [start, end] = down ? [from, to] : [to, from];
    ways.set(start, [...(ways.get(start) ?? []), { to: end, name }]);
  }
  const seen = new Set([0]);
  /** @param {number} index @returns {Branch[]} */
  const branches = (index) => {
    const next = (ways.get(index) ?? []).map(({ to, name }) => {
      const again = seen.has(to);
      seen.add(to);
      return { to, name, again };
    });
    return next.map(({ to, name, again }) => ({
      node: graph.nodes[to],
      name,
      again,
      children: again ? [] : branches(to),
    }));
  };
  return branches(0);
}

/**
 * Counts the versions and subjects that use the start, directly or indirectly.
 * @param {Graph} graph
 */
export function usersOf({ nodes, edges }) {
  /** @type {Map<number, number[]>} */
  const users = new Map();
  for (const { from, to } of edges) users.set(to, [...(users.get(to) ?? []), from]);
  const seen = new Set([0]);
  // The loop also visits the entries that it adds to the set.
  for (const index of seen) for (const user of users.get(index) ?? []) seen.add(user);
  seen.delete(0);
  return { versions: seen.size, subjects: new Set([...seen].map((index) => nodes[index].subject)).size };
}

/**
 * The versions that refer to the start directly. As long as they exist, the start cannot be deleted.
 * @param {Graph} graph
 */
export function holdersOf(graph) {
  const indexes = new Set(graph.edges.filter((edge) => edge.to === 0 && edge.from !== 0).map((edge) => edge.from));
  return [...indexes].map((index) => graph.nodes[index]);
}
