/**
 * An installation as the tool runs it: command, environment and selection, made of the project's files after they were
 * judged.
 */
import { isJsonObject, type JsonObject } from "../../../base/json.ts";
import { parseJson } from "../../../base/json-parse.ts";
import { FailureWithoutEffect } from "../../../model/outcome/failure.ts";
import type { ExecSelection } from "../../../model/work/exec.ts";
import type { ProjectFile, ToolchainCommand } from "../../../model/work/toolchain.ts";

/** Files of the project by path, as analysis saw them. */
export type InstallFiles = Readonly<Record<string, ProjectFile | null>>;

/** A registry that may be reached. */
export interface Registry {
  readonly host: string;
  readonly port: number;
}

/** What an installation may use. */
export interface Grants {
  readonly registries: readonly Registry[];
  /** The operator named the registries, and so chose their ports and whether they are plain HTTP. */
  readonly isOwn: boolean;
  /** Packages may run programs of their own while they are installed. */
  readonly scripts: boolean;
}

/** What is run, and in which selection. */
export interface Installation {
  readonly environment: Readonly<Record<string, string>>;
  readonly selection: ExecSelection;
}

/** One manager. All members but `prepare` are pure and never throw: analysis asks them. */
export interface Manager {
  /** The first of them that is there is used. */
  readonly lockFiles: readonly string[];
  /** How a person makes the lock file. */
  readonly lockedBy: string;
  readonly command: (scripts: boolean) => ToolchainCommand;
  /** Packages run programs of their own where the operator allows that. */
  readonly runsScripts: boolean;
  /** The public registries, as hosts. */
  readonly registries: readonly string[];
  /** Paths of the other files that it goes by, in two steps: what the first are is known, the rest they say. */
  readonly manifests: readonly string[];
  readonly furtherManifests: (files: InstallFiles, lockFile: string) => readonly string[];
  /** What people are told the files ask for: a line for each file. */
  readonly words: (
    files: InstallFiles,
    lockFile: string,
  ) => readonly { readonly path: string; readonly text: string }[];
  /**
   * Judges the files.
   * @throws FailureWithoutEffect NOT_SUPPORTED that names what is refused, and what to do
   */
  readonly prepare: (files: InstallFiles, lockFile: string, grants: Grants) => Installation | Promise<Installation>;
}

/** The text of a file that has to be there. @throws FailureWithoutEffect where it is missing or cannot be used */
export function requireText(files: InstallFiles, path: string): string {
  const file = files[path];
  if (file?.text !== undefined) return file.text;
  throw refused(path, file?.problem ?? "is missing", "ask a person to look at it");
}

/**
 * The object that `text` is, read strictly: what one parser takes otherwise than another is refused. @throws
 * FailureWithoutEffect
 */
export function requireJson(path: string, text: string): JsonObject {
  const parsed = parseJson(text.replace(/^\ufeff/, ""));
  if (parsed.ok && isJsonObject(parsed.value)) return parsed.value;
  const problem = parsed.ok ? "no object" : parsed.problem;
  throw refused(path, `cannot be used (${problem})`, "ask a person to mend it, and send the call again");
}

/** The refusal of `path`. @param what the rest of a sentence about the file */
export function refused(path: string, what: string, next: string): FailureWithoutEffect {
  return new FailureWithoutEffect("NOT_SUPPORTED", `\`${path}\` ${what}; nothing was installed`, next);
}
