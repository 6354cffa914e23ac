/** Defines what plugins and components bring to a kernel: tools, where they come from, and their end. */
import type { Tool } from "../../model/tool/tool.ts";

/** A module that was loaded, for the evidence. */
export interface LoadedModule {
  /** As it was named. */
  readonly module: string;
  /** BLAKE3-256 of its file, hexadecimal; what it imports is not part of it. */
  readonly digest: string;
  readonly inProcess: boolean;
  readonly tools: readonly string[];
}

/** Tools, the modules that they come from, and the end of their processes. */
export interface PluggedTools {
  readonly tools: readonly Tool[];
  readonly modules: readonly LoadedModule[];
  readonly close: () => void;
}

/** Where there are none. */
export const NOTHING_PLUGGED: PluggedTools = { tools: [], modules: [], close: () => undefined };
