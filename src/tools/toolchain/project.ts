/** Kinds of projects: what each looks at, and which command it comes to. */
import type { ProjectFileName, Toolchain, ToolchainCommand } from "../../model/work/toolchain.ts";
import type { Target } from "./target.ts";

/** What a project is asked for. */
export type Purpose = "test" | "lint";

/** A command that a project's files, or the operator, name. */
export interface ProjectCommand {
  readonly kind: "command";
  /** Name of what runs it, such as `npm`. */
  readonly runner: string;
  /** The files that say so. */
  readonly from: readonly ProjectFileName[];
  /** What these files say that it does, where that can be told from them. */
  readonly words?: string;
  /** The whole command for a target, or for everything; text where it takes no such target: what to do instead. */
  readonly commandFor: (target: Target | undefined) => ToolchainCommand | string;
  /** Besides what every run gets. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A file that should say it, and cannot be used. */
export interface UnusableProject {
  readonly kind: "unusable";
  readonly file: ProjectFileName;
  /** The rest of a sentence about the file. */
  readonly problem: string;
}

/** Says what a project of one kind runs; nothing when the files are not of that kind, or name no such command. */
export type ProjectKind = (files: Toolchain["files"], purpose: Purpose) => ProjectCommand | UnusableProject | undefined;

/** What to do where a runner knows no names of tests. */
export const TAKES_NO_NAMES = "only pytest takes names of tests after `::`; name a file or a directory";

/** A command that takes paths after its own arguments. */
export function withPaths(command: ToolchainCommand): ProjectCommand["commandFor"] {
  return (target) => {
    if (target?.names !== undefined) return TAKES_NO_NAMES;
    return target === undefined ? command : [...command, target.path];
  };
}

/** A command that takes paths, and names of tests behind `::`. */
export function withNames(command: ToolchainCommand): ProjectCommand["commandFor"] {
  return (target) => {
    if (target === undefined) return command;
    return [...command, target.names === undefined ? target.path : `${target.path}::${target.names}`];
  };
}
