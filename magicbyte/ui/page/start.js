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
requestAnimationFrame(() => setTimeout(() => document.fonts.load('12px "JetBrains Mono Variable"')));
