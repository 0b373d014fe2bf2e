/** Which writes a mode refuses. */

const READ_ONLY = new Set(["READONLY", "READONLY_OVERRIDE"]);

/** Whether a mode refuses all writes except changes of settings. @param {string} mode */
export const isReadOnly = (mode) => READ_ONLY.has(mode);

/**
 * Whether a known mode refuses versions without a given id. The page registers versions without an id.
 * @param {string} mode
 */
export const refusesVersions = (mode) => mode !== "" && mode !== "READWRITE";
