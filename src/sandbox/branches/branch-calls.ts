/**
 * Notes which calls are at work on a branch, for every kernel of a state directory to see.
 *
 * What a command changed lands when it ends, so that a branch which went away meanwhile would take it along.
 *
 * INVARIANT: a call is noted before it is asked whether the branch can be worked on; whoever removes a branch sees to
 * it that no call may begin, and looks at the notes then.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";

/** What notes are made with. */
export interface BranchCallParts {
  /** Where branches lie, absolute. */
  readonly directory: string;
  readonly instanceId: string;
  readonly isAlive: (instanceId: string) => Promise<boolean>;
  readonly random: RandomBytes;
}

/** Characters of a tool's name that are kept. */
const TOOL_CHARACTERS_MAX = 100;

/** The calls on the branches of one state directory. */
export class BranchCalls {
  readonly #parts: BranchCallParts;
  /** Those of this kernel, with whoever made them. */
  readonly #own = new Map<string, object>();

  readonly #name: string;

  /** @param name of the directory with the notes, beside a branch's tree */
  constructor(parts: BranchCallParts, name = "calls") {
    this.#parts = parts;
    this.#name = name;
  }

  /** Notes a call. @param by is the call to `others` @returns what is done at its end */
  note(branchId: string, tool: string, by: object): () => void {
    const { instanceId, random } = this.#parts;
    const name = `${instanceId}.${newId("cal", random)}`;
    const directory = this.#directory(branchId);
    const path = join(directory, name);
    try {
      makeDirectory(directory);
      writeFileSync(path, tool.slice(0, TOOL_CHARACTERS_MAX), { flag: "wx" });
    } catch (error) {
      if (errorCode(error) === "ENOENT") return nothing; // the branch is gone: whoever asks about it is told
      throw error;
    }
    this.#own.set(name, by);
    return () => {
      this.#own.delete(name);
      rmSync(path, { force: true });
    };
  }

  /** The tools of calls that are at work on it, but for that of `by`; what dead kernels left is removed. */
  async others(branchId: string, by?: object): Promise<readonly string[]> {
    const { instanceId, isAlive } = this.#parts;
    const tools: string[] = [];
    for (const name of namesIn(this.#directory(branchId))) {
      const from = name.slice(0, name.indexOf("."));
      const own = this.#own.get(name);
      const isDone = from === instanceId ? own === undefined : !(await isAlive(from));
      const path = join(this.#directory(branchId), name);
      if (isDone) rmSync(path, { force: true });
      else if (own === undefined || own !== by) tools.push(toolIn(path));
    }
    return tools;
  }

  #directory(branchId: string): string {
    return join(this.#parts.directory, branchId, this.#name);
  }
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

function nothing(): void {
  // nothing was noted
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function toolIn(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "call"; // it ended this moment
    throw error;
  }
}
