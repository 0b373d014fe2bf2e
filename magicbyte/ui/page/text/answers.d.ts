// Responses of the registry's extensions that several views read: outline, compare and graph.

export type Direction = "BACKWARD" | "FORWARD";
export type Place = { line: number; column: number };

/** An entry of an outline: a field, a type, a symbol. Defaults and attributes are texts from the source. */
export interface OutlineNode {
  path: string;
  name: string;
  kind: string;
  type: string;
  default: string | null;
  doc: string | null;
  tags: string[];
  number: number | null;
  aliases: string[];
  optional: boolean | null;
  attributes: Record<string, string>;
  at: Place | null;
  reference: { name: string; path: string | null; subject: string | null; version: number | null } | null;
  children: OutlineNode[];
}

export interface Outline {
  subject: string | null;
  version: number | null;
  id: number | null;
  schemaType: string;
  nodes: number;
  cut: boolean;
  outline: OutlineNode;
}

/** An explanation of a break, as `?explain=true` returns it. */
export interface Finding {
  rule: string;
  severity: "error" | "warning";
  path: string;
  direction: Direction;
  version: number | null;
  change: string;
  new: Place | null;
  old: Place | null;
  breaks: string;
  harm: string;
  remedy: string;
  fixes: { title: string; edits: { offset: number; length: number; text: string }[] }[];
  example: string | null;
  exampleBytes: string | null;
  effect: string | null;
  message: string;
}

export interface Change {
  path: string;
  /** The path by field names; another version of the registry does not return it. */
  fieldPath?: string;
  name: string | null;
  kind: "added" | "removed" | "renamed" | "renumbered" | "moved" | "changed";
  what: string[];
  old: OutlineNode | null;
  new: OutlineNode | null;
  at: { old: Place | null; new: Place | null };
  leaves: number;
  findings: Finding[];
}

export interface Side {
  subject: string;
  version: number | null;
  id: number | null;
  schemaType: string;
}

export interface Verdict {
  compatible: boolean;
  errors: number;
  warnings: number;
}

export interface Comparison {
  from: Side;
  to: Side;
  backward: Verdict;
  forward: Verdict;
  levels: Record<string, boolean>;
  policy: string;
  unchanged: number;
  cut: boolean;
  changes: Change[];
  error?: { error_code: number; message: string };
}
