/** Three columns (refers to, this, referred to by) as nested lists of links, with lines behind them. */

import { TypeBadge } from "../../parts/badges.js";
import { visibly } from "../../parts/gap.js";
import { Shown } from "../../parts/hostile.js";
import { path } from "../../api/encode_url.js";
import { arrival, href } from "../../state/routes.js";
import { html, useLayoutEffect, useRef, useState } from "../../vendor/ui.js";

/** @import { Branch, Node } from "./tree.js" */

/**
 * @param {{start: Node, references: Branch[], referrers: Branch[], users: string}} props `users`: the number of users,
 *   in words
 */
export function GraphColumns({ start, references, referrers, users }) {
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const { lines, tall } = useLines(box, [start, references, referrers]);
  useStartInSight(box, start);
  return html`
    <div class=${tall ? "graph tall" : "graph"} ref=${box}>
      <svg class="graph-lines" aria-hidden="true">${lines.map((line, index) =>
        html`<path d=${line} key=${index} />`
      )}</svg>
      <section aria-labelledby="refers-to">
          <h2 id="refers-to">Refers to</h2>
          ${references.length > 0
            ? html`<${Branches} branches=${references} side="left" />`
            : html`<p class="faint s">nothing${visibly()}</p>`}
        </section>
      <section aria-labelledby="this-version">
        <h2 id="this-version">This version</h2>
        <div class="graph-node this" data-node="start">
          <${NodeWords} node=${start} />
        </div>
      </section>
      <section aria-labelledby="referred-to-by">
          <h2 id="referred-to-by">Referred to by</h2>
          ${referrers.length > 0
            ? html`
              <div class="graph-users">
                <p class="dim s num">${users}</p>
                <${Branches} branches=${referrers} side="right" />
              </div>
            `
            : html`<p class="faint s">nothing${visibly()}</p>`}
        </section>
    </div>
  `;
}

/**
 * @param {{branches: Branch[], side: "left" | "right" | ""}} props `side`: the side of the start; only for the first
 *   level
 */
function Branches({ branches, side }) {
  return html`<ul class=${side ? "" : "nested"}>
    ${
    branches.map(({ node, name, again, children }, index) =>
      html`<li key=${index}>
        <a class=${node.deleted ? "graph-node deleted" : "graph-node"} data-node=${side}
          href=${href(path`/subjects/${node.subject}/versions/${node.version}/references`)}>
          <${NodeWords} node=${node} />
          ${name && name !== node.subject && html`<span class="xs faint anywhere">as <${Shown} text=${name} /></span>`}
          ${again && html`<span class="xs faint">shown above</span>`}
        </a>
        ${children.length > 0 && html`<${Branches} branches=${children} side="" />`}
      </li>`
    )
  }
  </ul>`;
}

/** @param {{node: Node}} props */
function NodeWords({ node }) {
  return html`<span class="row wrap">
    <b class="mono anywhere"><${Shown} name text=${node.subject} /></b>
    <span class="num s">v${node.version}</span>
    <${TypeBadge} type=${node.schemaType} />
    ${node.deleted && html`<span class="badge bad">deleted</span>`}
  </span>`;
}

/** A graph that fills more of the window makes the start follow the scrolling. */
const TALL = 0.6;
/** A column that fills less of the window stays visible. */
const FITS = 0.8;

/**
 * The curves from the start to the first level on both sides, none if the columns are stacked; and whether the graph is
 * so tall that the start stays in the middle of the window.
 * @param {{current: HTMLElement | null}} box
 * @param {any[]} inputs
 */
function useLines(box, inputs) {
  const [state, setState] = useState({ lines: /** @type {string[]} */ ([]), tall: false });
  useLayoutEffect(() => {
    const graph = box.current;
    if (!graph) return;
    let frame = 0;
    const measure = () => {
      frame = 0;
      const tall = graph.offsetHeight > innerHeight * TALL;
      // A column that fits into the window stays visible, beside the start.
      for (const column of graph.querySelectorAll("section > :not(h2):not([data-node])")) {
        const { offsetHeight } = /** @type {HTMLElement} */ (column);
        column.classList.toggle("follows", tall && offsetHeight < innerHeight * FITS);
      }
      setState({ lines: curves(graph), tall });
    };
    const later = () => {
      frame ||= requestAnimationFrame(measure);
    };
    const observer = new ResizeObserver(measure);
    observer.observe(graph);
    addEventListener("scroll", later, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      removeEventListener("scroll", later);
      cancelAnimationFrame(frame);
    };
  }, [...inputs, state.tall]);
  return state;
}

/**
 * Scrolls the start into the middle of the window if it is not visible at first. After Back, keeps the position.
 * @param {{current: HTMLElement | null}} box
 * @param {Node} start
 */
function useStartInSight(box, start) {
  useLayoutEffect(() => {
    const node = box.current?.querySelector('[data-node="start"]');
    if (!node || arrival.peek() === "back") return;
    const { top, bottom } = node.getBoundingClientRect();
    if (top < 0 || bottom > innerHeight) node.scrollIntoView({ block: "center" });
  }, [start.subject, start.version]);
}

/** @param {HTMLElement} graph */
function curves(graph) {
  const frame = graph.getBoundingClientRect();
  const start = graph.querySelector('[data-node="start"]')?.getBoundingClientRect();
  if (!start) return [];
  const nodes = [...graph.querySelectorAll('[data-node="left"], [data-node="right"]')];
  return nodes.flatMap((node) => {
    const at = node.getBoundingClientRect();
    const left = /** @type {HTMLElement} */ (node).dataset.node === "left";
    const [x1, x2] = left ? [start.left, at.right] : [start.right, at.left];
    if (left ? x2 > x1 : x2 < x1) return [];
    const [fromX, fromY] = [x1 - frame.left, start.top + start.height / 2 - frame.top];
    const [toX, toY] = [x2 - frame.left, at.top + at.height / 2 - frame.top];
    const middle = (fromX + toX) / 2;
    return [`M${fromX} ${fromY}C${middle} ${fromY} ${middle} ${toY} ${toX} ${toY}`];
  });
}
