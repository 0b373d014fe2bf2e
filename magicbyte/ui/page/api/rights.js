/** The user's rights by the access rules. */
import { call } from "./client.js";

/** @typedef {{someSubject: string[], settings: string[], registry: string[]}} ContextRights operations that are allowed */

/**
 * The operations that the user may do on these subjects, on the settings and on the registry.
 * @param {string[]} subjects
 * @returns {Promise<ContextRights & {subjects: Record<string, string[]>}>}
 */
export const rightsOn = async (subjects) => (await call("GET", "/rights", { query: { subject: subjects } })).data;
