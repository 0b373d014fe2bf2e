/** Names of fields in an Avro schema's text, for the titles of places. */

/**
 * Returns a function from a path such as `/fields/2/type` to the name of its field.
 * @param {string} text
 * @returns {(path: string) => string | null}
 */
export function fieldNames(text) {
  const schema = parsed(text);
  return (path) => {
    let name = null;
    let at = schema;
    for (const step of path.split("/").slice(1)) {
      if (at === null || typeof at !== "object") break;
      at = Reflect.get(at, step);
      if (isField(at)) name = at.name;
    }
    return name;
  };
}

/**
 * Returns the names of the fields that have a default.
 * @param {string} text
 * @returns {Set<string>}
 */
export function fieldsWithDefault(text) {
  const names = new Set();
  /** @type {any[]} */
  const waiting = [parsed(text)];
  while (waiting.length) {
    const value = waiting.pop();
    if (value === null || typeof value !== "object") continue;
    if (isField(value) && "default" in value) names.add(value.name);
    waiting.push(...Object.values(value));
  }
  return names;
}

/**
 * @param {any} value
 * @returns {value is {name: string}}
 */
function isField(value) {
  return value !== null && typeof value === "object" && typeof value.name === "string" && "type" in value &&
    !Array.isArray(value.fields) && !Array.isArray(value.symbols);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
