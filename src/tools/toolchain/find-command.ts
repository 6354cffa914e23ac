/**
 * Finds the command that tests or lints a workspace.
 *
 * The operator's choice comes first, then the first kind of project whose files name a command. The function is pure:
 * analysis and execution ask with the same data and get the same answer.
 */
import type { ProjectFileName, Toolchain, ToolchainCommand } from "../../model/work/toolchain.ts";
import { cargoProject, goProject } from "./compiled-projects.ts";
import { makeProject } from "./make-project.ts";
import { nodeProject } from "./node-project.ts";
import { type ProjectCommand, type ProjectKind, type Purpose, withNames } from "./project.ts";
import { pythonProject } from "./python-project.ts";
import { targetOf } from "./target.ts";

/** A command to run, or why there is none. */
export type FoundCommand =
  | {
      readonly kind: "found";
      readonly command: ToolchainCommand;
      readonly environment: Readonly<Record<string, string>>;
      /** `handrail.yaml`, or the names of the files that name the command. */
      readonly source: string;
      readonly runner: string;
      readonly from: readonly ProjectFileName[];
      /** What these files say that the command does. */
      readonly words?: string;
    }
  | {
      readonly kind: "none";
      readonly message: string;
      readonly suggestion: string;
      readonly from: readonly ProjectFileName[];
    };

// The first one that names a command is taken: makefiles stand last, because they often do more than tests.
const KINDS: readonly ProjectKind[] = [nodeProject, pythonProject, cargoProject, goProject, makeProject];

/** The command for `purpose` and the target `text`. */
export function findCommand({ files, chosen }: Toolchain, purpose: Purpose, text: string | undefined): FoundCommand {
  const own = chosen[purpose];
  const found = own === undefined ? firstOf(files, purpose) : chosenCommand(own);
  if (found === undefined) return nothingFound(purpose);
  if (found.kind === "unusable") {
    const message = `\`${found.file}\` ${found.problem}, so nobody knows which command ${WORDS[purpose]}`;
    return { kind: "none", message, suggestion: CHOOSE[purpose], from: [found.file] };
  }
  const { runner, from, words, environment = {} } = found;
  const command = found.commandFor(text === undefined ? undefined : targetOf(text));
  if (typeof command === "string") {
    return { kind: "none", message: `\`${runner}\` cannot look at that target`, suggestion: command, from };
  }
  const source = from.join(", ") || "handrail.yaml";
  return { kind: "found", command, environment, source, runner, from, ...(words !== undefined && { words }) };
}

function firstOf(files: Toolchain["files"], purpose: Purpose): ReturnType<ProjectKind> {
  for (const kind of KINDS) {
    const found = kind(files, purpose);
    if (found) return found;
  }
  return undefined;
}

function chosenCommand(command: ToolchainCommand): ProjectCommand {
  return { kind: "command", runner: command[0], from: [], commandFor: withNames(command) };
}

const WORDS: Readonly<Record<Purpose, string>> = { test: "runs the tests", lint: "runs the linter" };

const CHOOSE: Readonly<Record<Purpose, string>> = {
  test: "ask the operator to name the command under `workspaces[].toolchain.test` in handrail.yaml",
  lint: "ask the operator to name the command under `workspaces[].toolchain.lint` in handrail.yaml",
};

const LOOKED_FOR: Readonly<Record<Purpose, string>> = {
  test: "a script `test` in package.json, pytest, Cargo.toml, go.mod, a goal `test` in a makefile",
  lint: "a script `lint` in package.json, ruff or flake8, Cargo.toml, go.mod, a goal `lint` in a makefile",
};

function nothingFound(purpose: Purpose): FoundCommand {
  const message = `nothing in the workspace root says which command ${WORDS[purpose]}; looked for ${LOOKED_FOR[purpose]}`;
  return { kind: "none", message, suggestion: `add one of these, or ${CHOOSE[purpose]}`, from: [] };
}
