// Runs before the first paint. Sets the theme; frame/theme.js changes it later.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("magicbyte.theme") ?? choice;
  } catch { /* storage is off */ }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";

  // Load everything that the first frame does not need after that frame: on two cores, loading would delay the frame.
  // A hidden tab has no frames, so the time limit starts the loading.
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
    // A proxy may decode %2F to a slash. The server then counts more folders than the browser, and its links go up too
    // far.
    import(href).catch(() => import(location.pathname.replace(/\/ui\/.*/, `/ui/${path}`)));
  };
  setTimeout(run, LONGEST_WAIT_MS);
  document.addEventListener("DOMContentLoaded", () => setTimeout(run, LONGEST_WAIT_MS));
  requestAnimationFrame(() => setTimeout(run));
})();
