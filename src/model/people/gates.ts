/**
 * Defines the operator's gates besides policy: modes, skills, tool specs and tool policies.
 *
 * A gate can only narrow what a session may do, never widen it. The gates held here are parsed and checked. A name that
 * is not here is not defined, and a session that has it may do nothing.
 */
import type { JsonObject } from "../../base/json.ts";

/** Why an input does not satisfy a constraint; `unreadable` where it could not be judged. */
export interface InputProblem {
  readonly kind: "failed" | "unreadable";
  /** Where, as `edits[0].path`, and what is wrong there; without values of the input. */
  readonly message: string;
}

/** A JSON Schema (2020-12) that a tool's input must satisfy. */
export interface InputConstraint {
  readonly schema: JsonObject;
  /** What is wrong with a plain JSON value; `undefined` when it fits. Bounded in time. */
  readonly problemOf: (input: unknown) => InputProblem | undefined;
}

/** What a mode leaves of one tool. */
export interface ToolNarrowing {
  /** Globs, as those of leases; absent: every path that everything else allows. */
  readonly paths?: readonly string[];
  readonly allowsPath: (path: string) => boolean;
  readonly requiresApproval: boolean;
  readonly requiresArming: boolean;
}

/** A mode: the tools that are still allowed under it. */
export interface ModeProfile {
  readonly name: string;
  readonly description: string;
  readonly tools: ReadonlyMap<string, ToolNarrowing>;
}

/** A skill: the tools that it allows, each with what its input must satisfy. */
export interface SkillManifest {
  readonly name: string;
  readonly description: string;
  readonly tools: ReadonlyMap<string, InputConstraint | undefined>;
}

/** What a spec demands of a tool, beyond what the tool says of itself. */
export interface ToolSpec {
  readonly id: string;
  /** Name of the file it stands in. */
  readonly file: string;
  readonly requiresApproval: boolean;
  /** Also where the spec calls the risk high. */
  readonly requiresArming: boolean;
  readonly input?: InputConstraint;
}

/** A tool policy: which tools may run at all, and what they need. */
export interface ToolPolicy {
  readonly enabled: boolean;
  readonly allows: (tool: string) => boolean;
  readonly requireApproval: ReadonlySet<string>;
  readonly requireArming: ReadonlySet<string>;
}

/** The operator's specs and tool policy, or why they cannot be used: then no tool runs. */
export type ToolRules =
  | { readonly ok: true; readonly specs: ReadonlyMap<string, ToolSpec>; readonly policy?: ToolPolicy }
  | { readonly ok: false; readonly reason: "tool_policy_invalid" | "tool_spec_invalid"; readonly problem: string };

/** Everything of the operator's directory that narrows tools besides policy. */
export interface OperatorGates {
  /** Names what stands in the files; empty where there are none. */
  readonly hash: string;
  readonly rules: ToolRules;
  readonly modes: ReadonlyMap<string, ModeProfile>;
  readonly skills: ReadonlyMap<string, SkillManifest>;
}

const NOTHING_MORE: ToolNarrowing = { allowsPath: () => true, requiresApproval: false, requiresArming: false };

/**
 * The modes that Handrail brings along: Brio's agents, and the tools that each has (its table of tools: `done` is for
 * all of them).
 */
export const SHIPPED_MODES: ReadonlyMap<string, ModeProfile> = new Map(
  (
    [
      ["coder", "reads and writes files", "done read_file write_file list_files"],
      ["council", "only says what it thinks", "done"],
      ["foreman", "hands out tasks", "done create_task"],
      ["reviewer", "reads files", "done read_file list_files"],
      [
        "smart",
        "reads and writes files, runs commands and makes branches",
        "done read_file write_file list_files shell create_branch list_branches",
      ],
    ] as const
  ).map(([name, description, tools]) => [
    name,
    { name, description, tools: new Map(tools.split(" ").map((tool) => [tool, NOTHING_MORE])) },
  ]),
);

/** The gates of an operator who wrote none. */
export const NO_GATES: OperatorGates = {
  hash: "",
  rules: { ok: true, specs: new Map() },
  modes: SHIPPED_MODES,
  skills: new Map(),
};

/** The name of the mode that narrows nothing. */
export const DEFAULT_MODE = "default";
/** What names of modes and skills look like; they name files. */
export const PROFILE_NAME_PATTERN = /^[a-z][a-z0-9_-]{0,63}$/;
