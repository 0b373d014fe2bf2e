/** The search of every page: `/` and Ctrl-K. */
import { useKeys } from "../keyboard.js";
import { go } from "../routes.js";
import { html, signal } from "../vendor/ui.js";

export const searching = signal(false);

export function openSearch() {
  searching.value = true;
}

export function SearchDialog() {
  useKeys({
    "/": ["Search", openSearch],
    "Ctrl-k": ["Search", openSearch],
    "g s": ["Go to subjects", () => go("/subjects")],
    "g t": ["Go to topics", () => go("/topics")],
    "g d": ["Go to decode", () => go("/decode")],
    "g r": ["Go to the registry", () => go("/registry")],
  }, { scope: "Everywhere" });
  return searching.value ? html`` : null;
}
