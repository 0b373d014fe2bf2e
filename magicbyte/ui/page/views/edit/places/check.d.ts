// The state of a draft's live check.
import type { ApiError } from "../../../api/client.js";
import type { Position } from "./edits.js";
import type { Explanation } from "./findings.js";

export interface Verdict {
  version: number;
  backward: boolean;
  forward: boolean;
}

/** The verdict of a registry that only checks its own level. */
export interface Plain {
  compatible: boolean;
  messages: string[];
}

export interface Checked {
  sent: string;
  explanations: Explanation[];
  versions: Verdict[];
  cut: boolean;
  at: number;
  plain: Plain | null;
}

export interface Invalid {
  sent: string;
  message: string;
  position: Position | null;
}

/** `checked` keeps the last result while a later text is invalid or being checked. */
export interface Check {
  checking: boolean;
  checked: Checked | null;
  invalid: Invalid | null;
  failure: ApiError | null;
  again: () => void;
}
