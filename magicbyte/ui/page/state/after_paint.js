/** Waits for the browser to paint. */

/** The time limit in ms, because a hidden window never paints. */
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
