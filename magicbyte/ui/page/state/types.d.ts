// Types that several modules of the page share.
// deno-lint-ignore-file no-explicit-any
import type { Child, Component, Signal } from "../vendor/ui.d.ts";

export type { Child, Component, Signal };
/** A list is a parameter that is repeated. */
export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

export interface RouteRow {
  /** As the API has it: `/subjects/{subject}/compare`. */
  path: string;
  /** The view's name in view_modules.js. */
  view: string;
  /** Names of files in styles/views/ without `.css`. */
  styles?: string[];
  title: (params: Record<string, string>, query: Record<string, string>) => string;
}

/** Loads a view. `ready` resolves when the view has something to show. */
export type LoadView = () => Promise<{ default: Component<ViewProps>; ready?: () => Promise<unknown> }>;

export interface ViewProps {
  params: Record<string, string>;
  query: Record<string, string>;
}

export interface Location {
  path: string;
  params: Record<string, string>;
  query: Record<string, string>;
  hash: string;
  /** `.eu`, or empty for the default context. */
  context: string;
  row: RouteRow | null;
}

/** What index.html contains; `/ui/config.json` has the same. */
export interface Config {
  name: string;
  color: string;
  readOnly: boolean;
  restAvailable: boolean;
  /** Whether `magicbyte.ui.pipelines` names metrics ports. */
  pipelinesConfigured: boolean;
  /** Whether lists may leave out what the user may not see. */
  accessRules: boolean;
  /** The registry's address relative to the page's folder: `../`, or `registry/` behind `magicbyte ui`. */
  registryBase: string;
  version: string;
  features: string[];
}

export interface CallOptions {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  base?: "registry" | "rest" | "ui";
  /** Resolves the Response itself instead of reading it. */
  raw?: boolean;
  /** The request may wait a moment for others, so that all of them are sent as one. */
  patient?: boolean;
  /** False leaves the context out of the path, for requests that concern all contexts. */
  context?: boolean;
  /** False reads numbers as doubles: faster for long listings. */
  exact?: boolean;
}

/** What a transport meets. `lost`: a server is not there, or a write reached no leader; `refused`: a 403. */
export type TransportEvent =
  | { kind: "reached" }
  | { kind: "signed-in" }
  | { kind: "lost"; message: string; requestId?: string; leaderless?: boolean }
  | { kind: "refused"; method: string; path: string; query?: Query; message: string };

export interface Answer<T = any> {
  status: number;
  data: T;
  headers: Headers;
  text: string;
}

/** A request as a person would repeat it. */
export interface Request {
  method: string;
  path: string;
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  base?: "registry" | "rest" | "ui";
  context?: boolean;
}

/** The columns of `GET /overview`: one entry a subject; null is what the reader may not see. */
export interface Overview {
  /** Of the log: the change feed goes on from there. Or how many changes had arrived, if there is a cursor. */
  offset: number;
  /** The sealed offset of a reader who may not know the log's; the change feed goes on from there. */
  cursor?: string;
  total: number;
  subject: string[];
  type: (string | null)[];
  version: number[];
  /** How many live versions there are. */
  versions: number[];
  deletedVersions: number[];
  deleted: boolean[];
  id: (number | null)[];
  ts: (number | null)[];
  references: (number | null)[];
  level: (string | null)[];
  ownLevel: (boolean | null)[];
  mode: (string | null)[];
  ownMode: (boolean | null)[];
}

/** The line before the listing: the first rows of the default context, and its counts. */
export interface ListingHead extends Overview {
  counts: Counts;
}

/** What a context has. */
export interface Counts {
  subjects: number;
  deleted: number;
  versions: number;
  ownLevel: number;
  /** Of live subjects; those whose type the reader may not see are missing. */
  types: Record<string, number>;
}

/** A row of the listing. */
export interface Facts {
  subject: string;
  type: string | null;
  version: number;
  versions: number;
  deletedVersions: number;
  deleted: boolean;
  id: number | null;
  ts: number | null;
  references: number | null;
  level: string | null;
  ownLevel: boolean | null;
  mode: string | null;
  ownMode: boolean | null;
}
