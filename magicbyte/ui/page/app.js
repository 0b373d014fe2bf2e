/** The page: reads the settings, renders the bar and the view of the URL, and manages the focus. */
import { startFeed } from "./state/change_feed.js";
import { Bar, Strip } from "./frame/bar.js";
import { listenForKeys } from "./parts/keyboard.js";
import { afterPaint } from "./state/after_paint.js";
import { connectTransport } from "./state/connection.js";
import { followListing } from "./state/live_listing.js";
import { Questions } from "./parts/dialogs.js";
import { Failure, Loading } from "./parts/states.js";
import { absolute } from "./parts/times.js";
import { Toasts } from "./parts/toasts.js";
import { arrival, listen, placeOfEntry, ROOT, route } from "./state/routes.js";
import { SearchDialog } from "./search/palette.js";
import { Help } from "./search/help.js";
import { SignIn } from "./frame/sign_in.js";
import { sheetPath } from "./state/sheets.js";
import { config, context } from "./state/signals.js";
import { followTheme } from "./frame/theme.js";
import { html, render, useEffect, useRef, useState } from "./vendor/ui.js";
import NotFound from "./frame/not_found.js";
import { VIEWS } from "./view_modules.js";

/** Cache of loaded views: going back to a view is immediate. @type {Map<any, any>} */
const loaded = new Map();

/** @type {Map<string, Promise<void>>} */
const sheets = new Map();

/** The style sheets that index.html inlines; a built page inlines the sheets of its view. */
const contained = new Set(document.querySelector("style[data-sheets]")?.getAttribute("data-sheets")?.split(" "));

/** Loads a view's style file once. @param {string} name */
function loadStyle(name) {
  if (contained.has(sheetPath(name))) return Promise.resolve();
  const promise = sheets.get(name) ?? new Promise((resolve, reject) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = ROOT + sheetPath(name);
    link.onload = () => resolve(undefined);
    link.onerror = () => reject(new Error(`The page's style ${name} could not be loaded.`));
    document.head.append(link);
  });
  sheets.set(name, promise);
  promise.catch(() => sheets.delete(name));
  return promise;
}

function App() {
  return html`
    <a class="skip hidden-text" href="#main" onClick=${toMain}>Skip to the content</a>
    <${Bar} />
    <${Strip} />
    <${Main} />
    <${Questions} />
    <${SignIn} />
    <${SearchDialog} />
    <${Help} />
    <${Toasts} />
  `;
}

/** @param {Event} event */
function toMain(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/**
 * The view of the URL. The previous view stays until this one has loaded. The element `main` is drawn again with each
 * view: Preact keeps the first drawing of what an element contains for as long as it keeps that drawing of the element.
 */
function Main() {
  const { row, params, query } = route.value;
  const [, setReady] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const shown = useRef(/** @type {any} */ (null));
  const known = row ? loaded.get(row.view) : NotFound;
  if (known) shown.current = { view: known, row, params, query };
  const title = row ? row.title(params, query) : "Not found";

  useEffect(() => {
    document.title = `${title} - ${config.value.name ? config.value.name + " - " : ""}Magicbyte`;
  });
  useEffect(() => {
    setError(null);
    if (!row || known) return;
    Promise.all([VIEWS[row.view](), ...(row.styles ?? []).map(loadStyle)]).then(([module]) => {
      loaded.set(row.view, module.default);
      setReady(row);
    }, setError);
  }, [row]);
  useFocus(Boolean(known), route.value.path);

  return html`<main id="main" tabindex="-1">${contentOf(error, shown.current)}</main>`;
}

/**
 * @param {any} error  why the view could not be loaded
 * @param {any} shown  the view with its part of the URL; null until the first one has loaded
 */
function contentOf(error, shown) {
  if (error) {
    return html`
      <div class="page">
        <${Failure} error=${error} again=${() => location.reload()} />
      </div>
    `;
  }
  if (shown === null) {
    return html`
      <div class="page">
        <${Loading} />
      </div>
    `;
  }
  const { view, row, params, query } = shown;
  return html`<${view} key=${keyOf(row, params)} params=${params} query=${query} />`;
}

/**
 * A new subject remounts the view. A new version or filter of the same subject does not.
 * @param {any} row
 * @param {any} params
 */
const keyOf = (row, params) =>
  `${row?.view ?? ""} ${
    params.subject ?? params.topic ?? params.group ?? params.name ?? params.id ?? ""
  } ${context.value}`;

/**
 * Focuses the h1 of a new page. After Back, restores the previous focus.
 * @param {boolean} ready
 * @param {string} path
 */
function useFocus(ready, path) {
  const before = useRef("");
  useEffect(() => {
    if (!ready || before.current === path) return;
    const isFirst = before.current === "";
    before.current = path;
    const how = arrival.peek();
    if (how === "replace" || (isFirst && how === "load")) return;
    if (how === "push") {
      scrollTo(0, 0);
      return soon(keepOnHeading());
    }
    const place = placeOfEntry();
    return soon(() => {
      const at = place?.at ? document.querySelector(place.at) : null;
      if (place && document.documentElement.scrollHeight < place.y + innerHeight) return false;
      if (place?.at && !at) return false;
      focusOn(at ?? document.querySelector("main h1"));
      scrollTo(0, place?.y ?? 0);
      return true;
    });
  }, [ready, path]);
}

/**
 * Focuses the h1. Some views replace their h1 when the data arrives; this then focuses the new h1. Always returns
 * false, so `soon` calls it until the time limit.
 */
function keepOnHeading() {
  let first = true;
  return () => {
    const lost = document.activeElement === document.body || document.activeElement === null;
    if (first || lost) first = !focusOn(document.querySelector("main h1"));
    return false;
  };
}

/** @param {Element | null} element */
function focusOn(element) {
  if (!(element instanceof HTMLElement)) return false;
  if (element.tabIndex < 0 && !element.hasAttribute("tabindex")) element.tabIndex = -1;
  element.focus({ preventScroll: true });
  return true;
}

/**
 * Retries in each frame until `attempt` returns true, for at most 3 s: the content arrives after the page.
 * @param {() => boolean} attempt
 * @returns {() => void} stops the retries
 */
function soon(attempt) {
  let frame = 0;
  const listening = new AbortController();
  const stop = () => {
    cancelAnimationFrame(frame);
    listening.abort();
  };
  const end = performance.now() + 3000;
  const next = () => {
    if (attempt() || performance.now() > end) return stop();
    frame = requestAnimationFrame(next);
  };
  frame = requestAnimationFrame(next);
  addEventListener("pointerdown", stop, { signal: listening.signal });
  addEventListener("keydown", stop, { signal: listening.signal });
  return stop;
}

/** Adds the page's address and the time to the end of a printed page. */
function notePrinting() {
  addEventListener("beforeprint", () => document.body.dataset.printed = `${location.href}, ${absolute(Date.now())}`);
}

/** The longest time that the frame of index.html is shown without a view, in ms. */
const LONGEST_ALONE_MS = 100;
/** The fonts. If they load after the first render, the view's texts change once from the fallback font. */
const FONTS = ['12px "Inter Variable"', '12px "JetBrains Mono Variable"'];

/** Loads the view of the URL and its first rows, so that a single render shows both. */
async function loadFirst() {
  const { row } = route.peek();
  if (!row) return;
  const fonts = Promise.allSettled(FONTS.map((font) => document.fonts.load(font)));
  const [module] = await Promise.all([VIEWS[row.view](), ...(row.styles ?? []).map(loadStyle)]);
  loaded.set(row.view, module.default);
  await Promise.all([fonts, module.ready?.()]);
}

async function start() {
  connectTransport();
  followTheme();
  notePrinting();
  listen();
  listenForKeys();
  const late = new Promise((resolve) => setTimeout(resolve, LONGEST_ALONE_MS));
  // The view itself shows a failure.
  await Promise.race([loadFirst().catch(() => {}), late]);
  render(html`<${App} />`, /** @type {Element} */ (document.getElementById("app")));
  await afterPaint();
  followListing();
  startFeed();
}

start();
