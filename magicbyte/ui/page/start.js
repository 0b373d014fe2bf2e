// Runs before the first paint. Sets the theme; frame/theme.js changes it later.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("magicbyte.theme") ?? choice;
  } catch { /* storage is off */ }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";

  // All that the first frame does not need loads after it: on two cores, the frame would wait for it. A tab that is not
  // shown has no frames.
  const LONGEST_WAIT_MS = 100;
  let hasRun = false;
  const run = () => {
    const loads = /** @type {HTMLTemplateElement | null} */ (document.querySelector("#loads"));
    if (hasRun || loads === null) return;
    hasRun = true;
    document.head.append(loads.content);
    for (const font of ["Inter", "JetBrains Mono"]) document.fonts.load(`12px "${font} Variable"`).catch(() => {});
    const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="modulepreload"]'));
    const { href } = link;
    const path = (link.getAttribute("href") ?? "").replace(/^(\.\.\/)+/, "");
    // Behind a proxy that turns %2F into a slash, the server counts more folders than the browser: its links lead too far up.
    import(href).catch(() => import(location.pathname.replace(/\/ui\/.*/, `/ui/${path}`)));
  };
  setTimeout(run, LONGEST_WAIT_MS);
  document.addEventListener("DOMContentLoaded", () => setTimeout(run, LONGEST_WAIT_MS));
  requestAnimationFrame(() => setTimeout(run));
})();
