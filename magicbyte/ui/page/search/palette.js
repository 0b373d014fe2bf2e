/**
 * The search dialog of every page, opened by `/` or Ctrl-K. Names appear in the same animation frame; the registry's
 * results for fields and texts follow.
 */
import { EVERYWHERE, useKeys } from "../parts/keyboard.js";
import { listingError, needListing } from "../state/live_listing.js";
import { visibly } from "../parts/gap.js";
import { Dialog } from "../parts/dialogs.js";
import { Shown } from "../parts/hostile.js";
import { Icon } from "../parts/icon.js";
import { copy } from "../parts/copying.js";
import { go, goTo, href } from "../state/routes.js";
import { config } from "../state/signals.js";
import { html, signal, useEffect, useMemo, useRef, useState } from "../vendor/ui.js";
import { isPinned, noteVisits, togglePin } from "./recent.js";
import { localResults } from "./results.js";
import { useKafkaResults } from "./kafka_results.js";
import { useRegistryResults } from "./registry_results.js";
import { grouped } from "../text/grouped.js";

export const searching = signal(false);

export function openSearch() {
  searching.value = true;
}

/** The search dialog and its keys; app.js renders it once. */
export function SearchDialog() {
  useEffect(noteVisits, []);
  useKeys({
    "/": ["Search", openSearch],
    "Ctrl-k": ["Search, from inputs as well", openSearch],
    "g s": ["Go to subjects", () => go("/subjects")],
    "g t": ["Go to topics", () => go("/topics")],
    "g g": ["Go to consumer groups", () => go("/groups")],
    "g b": ["Go to brokers", () => go("/brokers")],
    "g p": ["Go to pipelines", () => go("/pipelines")],
    "g d": ["Go to decode", () => go("/decode")],
    "g r": ["Go to the registry", () => go("/registry")],
    u: ["One up", goToParent],
    y: ["Copy the address", () => copy(location.href, "Address copied")],
    c: ["Copy as curl", () => /** @type {HTMLElement | null} */ (document.querySelector("main [data-curl]"))?.click()],
  }, { scope: EVERYWHERE });
  if (!searching.value) return null;
  return html`<${Palette} onClose=${() => searching.value = false} />`;
}

/** Goes to the last page in the breadcrumbs. */
function goToParent() {
  const ways = [...document.querySelectorAll("main .crumb a")].map((link) =>
    /** @type {HTMLAnchorElement} */ (link).href
  );
  goTo(ways.filter((address) => address !== location.href).at(-1) ?? href("/subjects"));
}

/** @param {{onClose: () => void}} props */
function Palette({ onClose }) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    needListing();
  }, []);
  const local = localResults(typed);
  const { groups: found, loading, error } = useRegistryResults(typed);
  const problem = listingError.value ?? error;
  const ofKafka = useKafkaResults(typed);
  const groups = [...local, ...ofKafka, ...found].filter((group) => group.items.length > 0);
  const items = groups.flatMap((group) => group.items);
  const chosen = Math.min(at, items.length - 1);
  useMemo(() => setAt(0), [typed]);

  const open = (/** @type {{address: string} | undefined} */ item) => {
    if (!item) return;
    onClose();
    goTo(item.address);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 })[event.key];
    if (step) {
      event.preventDefault();
      const next = Math.max(0, Math.min(items.length - 1, chosen + step));
      setAt(next);
      list.current?.querySelector(`#found-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      open(items[chosen]);
    }
  };
  let index = -1;
  return html`
    <${Dialog} title="Search" class="palette" onClose=${onClose}>
      <div class="box">
        <${Icon} name="search" size=${15} />
        <input
          type="search"
          role="combobox"
          aria-label="Search"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant=${items.length > 0 ? `found-${chosen}` : undefined}
          placeholder=${config.value.restAvailable
            ? "Subject, field, id, topic or group"
            : "Subject, field, id or guid"}
          autocomplete="off"
          spellcheck=${false}
          autofocus
          value=${typed}
          onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)}
          onKeyDown=${onKeyDown}
        />
        <kbd>Esc</kbd>
      </div>
      <div class="found" id="found" role="listbox" aria-label="Found" ref=${list}>
          ${groups.map((group) =>
            html`<div role="group" aria-label=${group.title} key=${group.title}>
      <p class="found-title" aria-hidden="true">${group.title}${
              group.count === undefined ? null : html`<span class="num faint">${grouped(group.count)}</span>`
            }</p>
      ${
              group.items.map((item) => {
                index += 1;
                const number = index;
                return html`<${Result} key=${item.key} item=${item} id=${`found-${number}`} on=${
                  number === chosen
                } onOpen=${() => open(item)} onHover=${() => setAt(number)} />`;
              })
            }
    </div>`
          )}
          ${problem && typed && html`<p class="found-none">Not all was searched: ${problem.message}</p>`}
          ${groups.length === 0 && !(problem && typed) &&
            html`<p class="found-none">${
              loading
                ? "Asking the registry..."
                : typed
                ? `Nothing${visibly()} is found.`
                : "Type a part of a name. Several words must all fit."
            }</p>`}
        </div>
      <p
        class="xs faint palette-foot"><span><kbd>Enter</kbd> open</span><span class="mono">id: field: type: tag: text: level: topic: context: deleted:</span></p>
      </${Dialog}>
  `;
}

/** @param {{item: import("./results.js").Item, id: string, on: boolean, onOpen: () => void, onHover: () => void}} props */
function Result({ item, id, on, onOpen, onHover }) {
  const pin = (/** @type {Event} */ event) => {
    event.stopPropagation();
    togglePin(/** @type {string} */ (item.subject));
  };
  const pinned = item.subject ? isPinned(item.subject) : false;
  return html`
    <div role="option" id=${id} class="result ${on ? "on" : ""}" aria-selected=${String(on)} onClick=${onOpen}
      onMouseMove=${on ? undefined : onHover}>
        <span class="mono cut ends">${item.parts.map((part, i) =>
          part.hit
            ? html`<mark key=${i}><${Shown} text=${part.text} /></mark>`
            : html`<${Shown} key=${i} text=${part.text} />`
        )}</span>
        ${item.note && html`<span class="faint xs mono cut note-of"><${Shown} text=${item.note} /></span>`}
        <span class="grow"></span>
        ${item.badge}
        ${item.subject &&
          html`<span class="pin ${pinned ? "pinned" : ""}" title=${
            pinned ? "Unpin" : "Pin"
          } onClick=${pin}><${Icon} name="pin" size=${13} /></span>`}
      </div>
  `;
}
