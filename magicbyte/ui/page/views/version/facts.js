/** The facts of a version besides its text. */

import { Badge } from "../../parts/badges.js";
import { CopyButton } from "../../parts/copying.js";
import { Shown, webAddress } from "../../parts/hostile.js";
import { Id, Time } from "../../parts/times.js";
import { path } from "../../api/encode_url.js";
import { href } from "../../state/routes.js";
import { html } from "../../vendor/ui.js";

/** @param {{data: any, subject: string}} props `data`: the version as the API returns it */
export function VersionFacts({ data, subject }) {
  const references = data.references ?? [];
  const { properties = {}, tags = {}, sensitive = [] } = data.metadata ?? {};
  const rules = ["domainRules", "migrationRules", "encodingRules"].flatMap((kind) =>
    (data.ruleSet?.[kind] ?? []).map((/** @type {any} */ rule) => ({ ...rule, set: kind }))
  );
  return html`<aside class="stack version-facts" aria-label="About this version">
    <section class="card"><div class="body"><dl class="facts">
      <dt>Id</dt>
      <dd class="row"><${Id} id=${data.id} href=${href(path`/schemas/ids/${data.id}`)} />
        <${CopyButton} text=${String(data.id)} label="Copy the id" kind="quiet small icon" /></dd>
      ${
    data.guid && html`
      <dt>Guid</dt>
      <dd class="row"><a class="link mono xs anywhere" href=${href(path`/schemas/guids/${data.guid}`)}>${data.guid}</a>
                <${CopyButton} text=${data.guid} label="Copy the guid" kind="quiet small icon" /></dd>
    `
  }
      ${
    data.ts && html`
      <dt>Registered</dt>
      <dd>
        <${Time} ms=${data.ts} full />
      </dd>
    `
  }
      <dt>References</dt>
      <dd>${
    references.length === 0 ? html`<span class="faint">none</span>` : html`<ul>${references.map(referenceItem)}</ul>`
  }</dd>
      <dt>Used by</dt>
      <dd><a class="link" href=${
    href(path`/subjects/${subject}/versions/${data.version}/references`)
  }>see references</a></dd>
    </dl></div></section>
    ${
    Object.keys(properties).length > 0 && html`
      <${Section} title="Metadata">
        <dl class="facts">
              ${Object.entries(properties).map(([name, value]) =>
                html`
                  <dt class="mono">
                    <${Shown} text=${name} />
                  </dt>
                  <dd>
                    <${Property} value=${value} secret=${sensitive.includes(name)} />
                  </dd>
                `
              )}
            </dl>
        </${Section}>
    `
  }
    ${
    Object.keys(tags).length > 0 && html`
      <${Section} title="Tags">
        <dl class="facts">
              ${Object.entries(tags).map(([place, names]) =>
                html`
                  <dt class="mono anywhere">
                    <${Shown} text=${place} />
                  </dt>
                  <dd class="row wrap">${names.map((/** @type {string} */ name) =>
                    html`
                      <${Badge}>
                        <${Shown} text=${name} />
                        </${Badge}>
                    `
                  )}</dd>
                `
              )}
            </dl>
        </${Section}>
    `
  }
    ${
    rules.length > 0 && html`
      <${Section} title="Rules">
        <ul class="stack">${rules.map(ruleItem)}</ul>
        </${Section}>
    `
  }
  </aside>`;
}

/** @param {{title: string, children?: any}} props */
function Section({ title, children }) {
  return html`
    <section class="card">
      <header>
        <h2>${title}</h2>
      </header>
      <div class="body">${children}</div>
    </section>
  `;
}

/** @param {{name: string, subject: string, version: number}} reference */
function referenceItem({ name, subject, version }) {
  return html`<li key=${name}>
    <a class="link mono s anywhere" href=${
    href(path`/subjects/${subject}/versions/${version}`)
  }><${Shown} name text=${subject} /> v${version}</a>
    ${name !== subject && html`<span class="faint xs anywhere"> as <${Shown} text=${name} /></span>`}
  </li>`;
}

/** @param {{value: string, secret: boolean}} props */
function Property({ value, secret }) {
  if (secret) return html`<span class="faint">sensitive</span>`;
  const address = webAddress(value);
  if (address) {
    return html`<a class="link" href=${address} rel="noreferrer noopener" target="_blank"><${Shown} text=${value} /></a>`;
  }
  return html`<${Shown} text=${String(value)} />`;
}

/** @param {any} rule */
function ruleItem(rule) {
  return html`<li class="stack rule-item" key=${rule.name}>
    <div class="row wrap">
      <b class="mono s"><${Shown} text=${rule.name} /></b>
      <span class="faint xs">${[rule.kind, rule.mode, rule.type].filter(Boolean).join(", ").toLowerCase()}</span>
      ${rule.disabled && html`<${Badge} tone="warn">disabled</${Badge}>`}
    </div>
    ${
    rule.doc && html`
      <p class="xs dim">
        <${Shown} text=${rule.doc} />
      </p>
    `
  }
    ${rule.expr && html`<code class="mono xs anywhere"><${Shown} text=${rule.expr} /></code>`}
    ${
    (rule.onSuccess || rule.onFailure) && html`<p class="xs faint">
      ${rule.onSuccess && `on success ${rule.onSuccess}`}${rule.onSuccess && rule.onFailure && ", "}${
      rule.onFailure && `on failure ${rule.onFailure}`
    }
    </p>`
  }
  </li>`;
}
