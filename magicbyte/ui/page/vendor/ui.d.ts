// What the page uses of Preact, its hooks, htm and signals.
// deno-lint-ignore-file no-explicit-any
export type VNode = { type: any; props: any; key: any };
export type Child = VNode | string | number | boolean | bigint | null | undefined | Child[];
export type Component<P = any> = (props: P) => Child;
export type Ref<T> = { current: T };
export type Signal<T> = { value: T; peek(): T; subscribe(fn: (value: T) => void): () => void };
export type ReadonlySignal<T> = { readonly value: T; peek(): T; subscribe(fn: (value: T) => void): () => void };
export type Context<T> = { Provider: Component<{ value: T; children?: any }> };

export function h(type: any, props?: any, ...children: any[]): VNode;
export function render(vnode: Child, parent: Element | DocumentFragment): void;
export const Fragment: Component;
export function html(strings: TemplateStringsArray, ...values: any[]): any;

export function createContext<T>(initial: T): Context<T>;
export function useContext<T>(context: Context<T>): T;
export function useState<T>(initial: T | (() => T)): [T, (next: T | ((previous: T) => T)) => void];
export function useState<T = undefined>(): [T | undefined, (next: T | undefined) => void];
export function useEffect(fn: () => void | (() => void), deps?: readonly any[]): void;
export function useLayoutEffect(fn: () => void | (() => void), deps?: readonly any[]): void;
export function useMemo<T>(fn: () => T, deps: readonly any[]): T;
export function useCallback<T extends (...args: any[]) => any>(fn: T, deps: readonly any[]): T;
export function useRef<T>(initial: T): Ref<T>;
export function useRef<T>(initial: null): Ref<T | null>;
export function useId(): string;

export function signal<T>(initial: T): Signal<T>;
export function computed<T>(fn: () => T): ReadonlySignal<T>;
export function effect(fn: () => void | (() => void)): () => void;
export function batch<T>(fn: () => T): T;
export function untracked<T>(fn: () => T): T;
export function useSignal<T>(initial: T): Signal<T>;
export function useComputed<T>(fn: () => T): ReadonlySignal<T>;
export function useSignalEffect(fn: () => void | (() => void)): void;
