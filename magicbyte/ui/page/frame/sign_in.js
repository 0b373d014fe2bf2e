/** The dialog for a bearer token: kept in this tab's memory, in no URL and no storage. */
import { askTokensBy } from "../api/client.js";
import { askDialog } from "../parts/dialogs.js";
import { html, useEffect } from "../vendor/ui.js";

/** Connects the dialog with the requests; rendered once by app.js. */
export function SignIn() {
  useEffect(() => {
    askTokensBy(async (message) => {
      const typed = await askDialog({
        title: "Sign in",
        body: html`${message && html`<p class="bad-text">${message}</p>`}
          <p>The registry asks for a bearer token. It stays in the memory of this tab: reloading forgets it.</p>`,
        confirm: "Sign in",
        input: { label: "Token", type: "password" },
      });
      return typed ? String(typed).trim().replace(/^Bearer\s+/i, "") : "";
    });
  }, []);
  return null;
}
