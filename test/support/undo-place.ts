/** A workspace in which an agent's calls change files, and the desk of a person who brings them back: two kernels. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type OpenKernel, openKernel } from "../../src/server/compose.ts";
import { createKernel } from "../../src/server/doors/library.ts";
import type { UndoReport, UndoWish } from "../../src/server/people/undo-administration.ts";
import { freshPlace, type Place } from "./place.ts";

/** The place, its agent and its person. */
export interface UndoPlace {
  readonly place: Place;
  /** Calls a tool, which must succeed. @returns the id of the call */
  readonly call: (tool: string, args: object) => Promise<string>;
  /** The same for a call that may fail. @returns how it ended */
  readonly tried: (tool: string, args: object) => Promise<unknown>;
  readonly person: OpenKernel;
  readonly undo: (callId: string, more?: Partial<UndoWish>) => Promise<UndoReport>;
  /** Path, rights and content of everything in the workspace. */
  readonly tree: () => readonly string[];
}

/** Opens it. @param settings the operator's, besides that nothing asks */
export async function undoPlace(settings = ""): Promise<UndoPlace> {
  const place = freshPlace();
  place.put("config/handrail.yaml", `preset: open\n${settings}`);
  const options = {
    environment: {},
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: () => undefined,
  };
  const agent = await createKernel(options);
  onTestFinished(() => agent[Symbol.asyncDispose]());
  const session = await agent.openSession({ workspace: place.workspace });
  const person = await openKernel(options);
  onTestFinished(() => person.close());
  const tried = async (tool: string, args: object) => (await session.call(tool, args as never)).response;
  return {
    place,
    person,
    tried: async (tool, args) => (await tried(tool, args)).outcome,
    async call(tool, args) {
      const { outcome, requestId } = await tried(tool, args);
      if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
      return requestId;
    },
    undo: (callId, more = {}) => person.undo.undo({ callId, paths: [], dryRun: false, by: "ada", ...more }),
    tree: () => treeOf(place.workspace),
  };
}

/** Path, rights and content of everything below `root`. */
export function treeOf(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.startsWith(".git/") && !path.includes(".handrail-new-"))
    .map((path) => {
      const found = lstatSync(join(root, path));
      const content = found.isSymbolicLink()
        ? `-> ${readlinkSync(join(root, path))}`
        : found.isFile()
          ? readFileSync(join(root, path), "latin1")
          : "";
      return `${path} ${(found.mode & 0o777).toString(8)} ${content}`;
    })
    .sort();
}

/** State of each path of a report. */
export function statesOf({ planned }: UndoReport): Readonly<Record<string, string>> {
  return Object.fromEntries(planned.map(({ change, state }) => [change.path, state]));
}
