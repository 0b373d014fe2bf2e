/** The typed search as a hook; the URL gets it after a pause. */
import { setQuery } from "../../state/routes.js";
import { useEffect, useRef, useState } from "../../vendor/ui.js";

const URL_DELAY_MS = 250;

/**
 * The typed text: visible at once, and in the URL after a short delay or before the user leaves.
 * @param {string} inUrl
 * @returns {[string, (text: string) => void, () => void]}
 */
export function useTyped(inUrl) {
  const [typed, setTyped] = useState(inUrl);
  const written = useRef(inUrl);
  const timer = useRef(0);
  const newest = useRef(inUrl);
  useEffect(() => {
    if (inUrl === written.current) return;
    written.current = inUrl;
    newest.current = inUrl;
    setTyped(inUrl);
  }, [inUrl]);
  const write = () => {
    clearTimeout(timer.current);
    if (newest.current === written.current) return;
    written.current = newest.current;
    setQuery({ q: newest.current, peek: null });
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return [typed, (text) => {
    setTyped(text);
    newest.current = text;
    clearTimeout(timer.current);
    timer.current = setTimeout(write, URL_DELAY_MS);
  }, write];
}
