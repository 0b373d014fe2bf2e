// What the page uses of jsdiff.
export type ArrayChange<T> = { value: T[]; count: number; added: boolean; removed: boolean };
export type WordChange = { value: string; count: number; added: boolean; removed: boolean };
export type Options = { maxEditLength?: number; timeout?: number };
export function diffArrays<T>(
  before: readonly T[],
  after: readonly T[],
  options?: Options & { comparator?: (left: T, right: T) => boolean },
): ArrayChange<T>[];
export function diffWordsWithSpace(before: string, after: string, options?: Options): WordChange[];
