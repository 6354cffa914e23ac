/** A workspace, a kernel, and questions to what it knows. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type KernelSession, type SessionOptions } from "../../src/server/doors/library.ts";
import { freshPlace, type Place } from "./place.ts";

/** What a question was answered with. */
export interface Answered extends JsonObject {
  readonly results: readonly (JsonObject & { readonly path: string; readonly text: string })[];
  readonly state: string;
}

/** The place and a session in it. */
export interface KnowledgePlace {
  readonly place: Place;
  readonly session: KernelSession;
  /** Another session of the same kernel. */
  readonly other: (wish: Omit<SessionOptions, "workspace">) => Promise<KernelSession>;
  /** What the operator was told. */
  readonly told: readonly string[];
  /** Asks until the answer is as `isWanted` says. */
  readonly until: (query: string, isWanted: (answer: Answered) => boolean) => Promise<Answered>;
  /** Where the index lies. */
  readonly indexDirectory: () => string;
  readonly close: () => Promise<void>;
}

/** Opens a kernel on `place`, in which files stand already. */
export async function openKnowledge(place: Place = freshPlace()): Promise<KnowledgePlace> {
  const told: string[] = [];
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    onWarning: (line) => void told.push(line),
  });
  const close = async () => kernel.close();
  onTestFinished(close);
  const session = await kernel.openSession({ workspace: place.workspace });
  return {
    place,
    session,
    other: (wish) => kernel.openSession({ workspace: place.workspace, ...wish }),
    told,
    async until(query, isWanted) {
      for (;;) {
        const answer = await ask(session, { query });
        if (isWanted(answer)) return answer;
        await sleep(50);
      }
    },
    indexDirectory() {
      const [name = ""] = readdirSync(join(place.state, "knowledge"));
      return join(place.state, "knowledge", name);
    },
    close,
  };
}

/** Asks a question, which must be answered. */
export async function ask(session: KernelSession, args: JsonObject): Promise<Answered> {
  const { result } = await session.call("search_knowledge", args);
  if (result.status !== "success") throw new Error(JSON.stringify(result));
  return result.data as Answered;
}

/** Paths of an answer, best first. */
export function pathsOf({ results }: Answered): readonly string[] {
  return results.map(({ path }) => path);
}
