// The requests of the page, and answers that several modules read.
// deno-lint-ignore-file no-explicit-any

/** A list is a parameter that is repeated. */
export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

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
