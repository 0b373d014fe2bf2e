/** What a mode refuses. */

const READ_ONLY = new Set(["READONLY", "READONLY_OVERRIDE"]);

/** Whether a mode refuses all writes but those of settings. @param {string} mode */
export const isReadOnly = (mode) => READ_ONLY.has(mode);

/** Whether a known mode refuses a version without an id of its own, as the page registers it. @param {string} mode */
export const refusesVersions = (mode) => mode !== "" && mode !== "READWRITE";
