// Runs before the first paint. Sets the theme; frame/theme.js changes it later.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("magicbyte.theme") ?? choice;
  } catch { /* storage is off */ }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";

  // The modules load from the start and run after the first frame, which would wait for them otherwise. So does the font
  // of the subjects. A tab that is not shown has no frames.
  const LONGEST_WAIT_MS = 100;
  let hasRun = false;
  const run = () => {
    if (hasRun) return;
    hasRun = true;
    document.fonts.load('12px "JetBrains Mono Variable"').catch(() => {});
    const { href } = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="modulepreload"]'));
    // Behind a proxy that turns %2F into a slash, the server counts more folders than the browser: its links lead too far up.
    import(href).catch(() => import(location.pathname.replace(/\/ui\/.*/, "/ui/app.js")));
  };
  setTimeout(run, LONGEST_WAIT_MS);
  requestAnimationFrame(() => setTimeout(run));
})();
