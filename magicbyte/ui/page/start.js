// Sets the theme before the first paint; frame/theme.js changes it later.
(() => {
  let choice = "system";
  try {
    choice = localStorage.getItem("magicbyte.theme") ?? choice;
  } catch { /* storage is off */ }
  const dark = choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
