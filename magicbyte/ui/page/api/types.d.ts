// The requests of the page, and the responses that several modules read.
// deno-lint-ignore-file no-explicit-any

/** A list repeats its parameter. */
export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

export interface CallOptions {
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  base?: "registry" | "rest" | "ui";
  /** Resolves the `Response` without reading its body. */
  raw?: boolean;
  /** The request may wait for later requests, to join them in one batch. */
  patient?: boolean;
  /** False omits the context from the path, for requests about all contexts. */
  context?: boolean;
  /** False parses numbers as doubles, which is faster for long listings. */
  exact?: boolean;
}

/** An event of the transport. `lost`: a server is unreachable, or a write reached no leader; `refused`: a 403. */
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

/** A request that a user can repeat, for example with curl. */
export interface Request {
  method: string;
  path: string;
  query?: Query;
  body?: unknown;
  headers?: Record<string, string>;
  base?: "registry" | "rest" | "ui";
  context?: boolean;
}

/** The columns of `GET /overview`: one entry for each subject; null if the user may not see the value. */
export interface Overview {
  /** The log's offset, from which the change feed continues; with a cursor, the number of changes that had arrived. */
  offset: number;
  /** The sealed offset, from which the change feed continues for users who may not see log offsets. */
  cursor?: string;
  total: number;
  subject: string[];
  type: (string | null)[];
  version: number[];
  /** The number of live versions. */
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

/** The first line of the listing's response: the first rows of the default context, and its counts. */
export interface ListingHead extends Overview {
  counts: Counts;
}

/** The counts of a context. */
export interface Counts {
  subjects: number;
  deleted: number;
  versions: number;
  ownLevel: number;
  /** Live subjects by type, without subjects whose type the user may not see. */
  types: Record<string, number>;
}
