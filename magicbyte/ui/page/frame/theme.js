/** The theme: system, light or dark. start.js sets it before the first paint. */
import { effect, signal } from "../vendor/ui.js";
import { stored } from "../state/preferences.js";

export const THEMES = ["system", "light", "dark"];

/** The chosen theme. */
export const theme = stored("theme", "system");

const prefersDark = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
const systemIsDark = signal(prefersDark?.matches ?? false);

/** Follows the choice and the system; called once by app.js. */
export function followTheme() {
  prefersDark.addEventListener("change", () => systemIsDark.value = prefersDark.matches);
  effect(() => {
    const dark = theme.value === "dark" || (theme.value !== "light" && systemIsDark.value);
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  });
}
