/** Work that waits for the browser to show what is there. */

/** A window that is not shown paints nothing. */
const LONGEST_WAIT_MS = 100;

/** Resolves after the next frame. @returns {Promise<void>} */
export const afterPaint = () =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, LONGEST_WAIT_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve);
    });
  });
