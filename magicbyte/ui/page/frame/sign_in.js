/** The sign-in form: credentials stay in this tab's memory, never in a URL or in storage. */
import { askCredentialsBy } from "../api/client.js";
import { Button } from "../parts/buttons.js";
import { Dialog } from "../parts/dialogs.js";
import { html, useEffect, useId, useState } from "../vendor/ui.js";

/** @typedef {{schemes: string[], message: string, answer: (authorization: string) => void}} CredentialRequest */

/** Connects the form to the transport; app.js renders it once. */
export function SignIn() {
  const [asked, setAsked] = useState(/** @type {CredentialRequest | null} */ (null));
  useEffect(() => {
    askCredentialsBy((schemes, message) =>
      new Promise((resolve) => {
        const answer = (/** @type {string} */ authorization) => {
          setAsked(null);
          resolve(authorization);
        };
        setAsked({ schemes, message, answer });
      })
    );
  }, []);
  return asked && html`<${Form} asked=${asked} />`;
}

/** @param {{asked: CredentialRequest}} props */
function Form({ asked }) {
  const { schemes, message, answer } = asked;
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const [token, setToken] = useState("");
  const byName = schemes.includes("Basic");
  const byToken = schemes.includes("Bearer");
  const authorization = token ? bearer(token) : name && password ? basic(name, password) : "";
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (authorization) answer(authorization);
  };
  const wanted = byName && byToken
    ? "a name and a password, or a bearer token"
    : byName
    ? "a name and a password"
    : "a bearer token";
  return html`
    <${Dialog} title="Sign in" onClose=${() => answer("")}>
      <form class="stack" onSubmit=${submit}>
        <div class="dim s stack anywhere">
          ${message && html`<p class="bad-text">${message}</p>`}
          <p>The registry asks for ${wanted}. It stays in the memory of this tab: reloading forgets it.</p>
        </div>
        ${byName && html`
          <${Field} label="Name" complete="username" value=${name} onText=${setName} first />
          <${Field} label="Password" type="password" complete="current-password" value=${password} onText=${setPassword} />
        `}
        ${byToken &&
          html`<${Field} label="Token" type="password" complete="off" value=${token} onText=${setToken} first=${!byName} />`}
        <div class="foot">
          <${Button} onClick=${() => answer("")}>Cancel</${Button}>
          <${Button} kind="primary" type="submit" disabled=${!authorization}>Sign in</${Button}>
        </div>
      </form>
    </${Dialog}>
  `;
}

/** @param {{label: string, type?: string, complete: string, value: string, onText: (text: string) => void, first?: boolean}} props */
function Field({ label, type = "text", complete, value, onText, first = false }) {
  const id = useId();
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <input class="input mono" id=${id} type=${type} autocomplete=${complete} spellcheck=${false}
        autofocus=${first} value=${value}
        onInput=${(/** @type {any} */ event) => onText(event.currentTarget.value)} />
    </div>
  `;
}

/** @param {string} token with or without its scheme */
const bearer = (token) => "Bearer " + token.trim().replace(/^Bearer\s+/i, "");

/** The credentials in UTF-8, as RFC 7617 asks for. @param {string} name @param {string} password */
const basic = (name, password) =>
  "Basic " + btoa(String.fromCharCode(...new TextEncoder().encode(`${name}:${password}`)));
