/** What the access rules allow the user. */
import { call } from "./client.js";

/** @typedef {{someSubject: string[], settings: string[], registry: string[]}} ContextRights operations that are allowed */

/**
 * The operations that are allowed on these subjects, and on what belongs to no subject.
 * @param {string[]} subjects
 * @returns {Promise<ContextRights & {subjects: Record<string, string[]>}>}
 */
export const rightsOn = async (subjects) => (await call("GET", "/rights", { query: { subject: subjects } })).data;
