/** Names of subjects with their contexts. Pure. */

/**
 * The context and the name of a subject: `:.eu:orders` is `orders` in `.eu`.
 * @param {string} subject
 * @returns {{context: string, name: string}} the context is empty for the default one
 */
export function splitSubject(subject) {
  // A fast path: the list calls this for all subjects, and nearly all are in the default context.
  const parts = subject.startsWith(":.") ? subject.match(/^:(\.[^:]*):(.*)$/s) : null;
  if (!parts) return { context: "", name: subject };
  return { context: parts[1] === "." ? "" : parts[1], name: parts[2] };
}
