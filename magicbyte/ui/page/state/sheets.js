/** The style sheets of the views. The build for the wheel replaces this module: its sheets have hashes in their names. */

/** The path of a style sheet below `/ui/`. @param {string} name */
export const sheetPath = (name) => `styles/views/${name}.css`;
