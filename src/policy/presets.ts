/**
 * Presets: which shipped policy files make up each. The text itself lies in `presets/` and is read by the server.
 * INVARIANT: `base.cedar` is part of every preset; what it forbids no other file can permit.
 */
import type { PresetName } from "../model/people/preset.ts";

/** A preset: its policy files, in the order in which they are read, and what to tell the one who chooses it. */
export interface Preset {
  readonly files: readonly string[];
  readonly description: string;
  /** What the operator must be told before choosing it. */
  readonly warning?: string;
}

/** Every preset. */
export const PRESETS: Readonly<Record<PresetName, Preset>> = {
  reader: { files: ["base.cedar", "reader.cedar"], description: "reads and searches; changes nothing" },
  dev: {
    files: ["base.cedar", "dev.cedar", "shell.cedar", "danger.cedar", "install.cedar"],
    description:
      "reads, searches, edits, tests, commits, runs commands and installs what lock files name, without prompts; asks before it writes protected files, " +
      "deletes what cannot be brought back, runs dangerous commands, merges branches, rewrites git's history, or uses the network for anything else",
  },
  autonomous: {
    files: ["base.cedar", "autonomous.cedar", "install.cedar"],
    description: "for unattended work: each session changes a branch of its own, which a person merges; no network",
  },
  meao: {
    files: ["base.cedar", "dev.cedar", "meao.cedar", "danger.cedar", "install.cedar"],
    description: "as dev, and asks before each shell command",
  },
  brio: {
    files: ["base.cedar", "dev.cedar", "brio.cedar", "install.cedar"],
    description: "as dev, but of shell commands only listed programs run; no pipes, no substitutions, no removing",
  },
  open: {
    files: ["base.cedar", "open.cedar", "install.cedar"],
    description: "asks nothing and records everything; packages come from lock files alone",
    warning:
      "nothing is asked: only the fixed rules (zones, roles, lock files) and the sandbox stand between the agent and the machine",
  },
};
