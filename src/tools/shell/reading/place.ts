/** Defines where in a line of shell a part of it stands, and what holds there. */
import type { Input } from "../words/input.ts";
import type { Directories } from "./directories.ts";
import type { Reprinted } from "./reprinted.ts";

/** Where in the line a part of it stands. */
export interface Place {
  /** The text in which its nodes have their places. */
  readonly source: string;
  /** Programs whose output comes in. */
  readonly inputFrom: readonly string[];
  /** Programs that start it. */
  readonly via: readonly string[];
  readonly input: Input;
  readonly directories: Directories;
  readonly depth: number;
  /** It may run more than once, or later. */
  readonly repeated: boolean;
  /** It is read by a shell that need not be bash. */
  readonly plain: boolean;
  /** Bash prints it from its tree and reads it again. */
  readonly reprinted: Reprinted;
}
