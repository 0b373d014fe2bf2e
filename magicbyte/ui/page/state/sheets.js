/**
 * The style sheets of the views. The wheel's build replaces this module, because built sheets have hashes in their
 * names.
 */

/** The path of a style sheet below `/ui/`. @param {string} name */
export const sheetPath = (name) => `styles/views/${name}.css`;
