// Runs before the first paint. Sets the theme; frame/theme.js changes it later.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("magicbyte.theme") ?? choice;
  } catch { /* storage is off */ }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
// Subjects are written in it. Loaded any sooner, it would delay the first paint, which has no subject.
requestAnimationFrame(() => setTimeout(() => document.fonts.load('12px "JetBrains Mono Variable"').catch(() => {})));
// Behind a proxy that turns %2F into a slash, the server counts more folders than the browser, and links lead too far up.
addEventListener("error", ({ target }) => {
  if (target instanceof HTMLScriptElement && target.type === "module") {
    import(location.pathname.replace(/\/ui\/.*/, "/ui/app.js"));
  }
}, true);
