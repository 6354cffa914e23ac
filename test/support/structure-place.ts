/** A workspace, a kernel, and calls of the tools that say how the workspace is built. */
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type KernelSession, type SessionOptions } from "../../src/server/doors/library.ts";
import { freshPlace, type Place } from "./place.ts";

/** What a call came to: its data, or why there is none. */
export type Answered = JsonObject & { readonly code?: string; readonly message?: string };

/** The place and calls in it. */
export interface StructurePlace {
  readonly place: Place;
  readonly call: (tool: string, args: JsonObject) => Promise<Answered>;
  /** How an answer is labelled. */
  readonly labelOf: (tool: string, args: JsonObject) => Promise<string | undefined>;
  /** Calls of another session of the same kernel. */
  readonly other: (
    wish: Omit<SessionOptions, "workspace"> & { readonly workspace?: string },
  ) => Promise<StructurePlace["call"]>;
}

/** Opens a kernel on a workspace with `files`. */
export async function openStructure(
  files: Readonly<Record<string, string>>,
  place: Place = freshPlace(),
): Promise<StructurePlace> {
  for (const [path, content] of Object.entries(files)) place.put(`workspace/${path}`, content);
  const kernel = await createKernel({ stateDirectory: place.state, configDirectory: place.config, environment: {} });
  onTestFinished(async () => kernel.close());
  const callOf =
    (session: KernelSession): StructurePlace["call"] =>
    async (tool, args) => {
      const { result } = await session.call(tool, args);
      if (result.status === "success") return result.data as Answered;
      return JSON.parse(JSON.stringify(result)) as Answered;
    };
  const session = await kernel.openSession({ workspace: place.workspace });
  return {
    place,
    call: callOf(session),
    labelOf: async (tool, args) => (await session.call(tool, args)).result.metadata?.label?.dataClass,
    other: async (wish) => callOf(await kernel.openSession({ workspace: place.workspace, ...wish })),
  };
}
