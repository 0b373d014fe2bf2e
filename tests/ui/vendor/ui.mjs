export { createContext, Fragment, h, render } from "preact";
export { useCallback, useContext, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export {
  batch,
  computed,
  effect,
  signal,
  untracked,
  useComputed,
  useSignal,
  useSignalEffect,
} from "@preact/signals";
import htm from "htm";
import { h } from "preact";

/**
 * Makes an element for htm, which must not keep it. htm keeps an element without values and returns it each time. Preact
 * writes the parent and the node into the element that it shows first, shows a copy when the parent is drawn again, and
 * clears only the copy when the parent goes: the element that htm keeps would hold a whole page that is gone.
 * `this` is htm's list of operations; the bits of its first entry say that the element has values.
 */
export const html = htm.bind(function () {
  this[0] = 3;
  return h.apply(null, arguments);
});
