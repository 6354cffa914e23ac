/** A workspace, and sessions in it that speak dialects. */
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type Kernel, type SessionOptions } from "../../src/server/doors/library.ts";
import { freshPlace, type Place } from "./place.ts";

/** The place and its kernel. */
export interface DialectPlace {
  readonly place: Place;
  readonly kernel: Kernel;
  /** A session that speaks `dialect`. */
  readonly speaking: (dialect: string | undefined, more?: Partial<SessionOptions>) => Promise<SpeakingSession>;
}

/** A session, and calls in its words. */
export interface SpeakingSession {
  readonly token: string;
  readonly id: string;
  /** The result document of a call. */
  readonly call: (tool: string, args: JsonObject) => Promise<JsonObject>;
  /** Names of the tools that it is offered. */
  readonly text: (tool: string, args: JsonObject) => Promise<string | undefined>;
}

/** Opens a kernel on a place with some files. @param settings the operator's */
export async function dialectPlace(settings = "preset: open\n"): Promise<DialectPlace> {
  const place = freshPlace();
  place.put("config/handrail.yaml", settings);
  place.put("workspace/a.txt", "one\ntwo\n");
  place.put("workspace/src/b.txt", "two three\n");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    onWarning: () => undefined,
  });
  onTestFinished(() => kernel.close());
  return {
    place,
    kernel,
    async speaking(dialect, more = {}) {
      const wish = { workspace: place.workspace, ...(dialect !== undefined && { dialect }), ...more };
      const session = await kernel.openSession(wish);
      const made = (tool: string, args: JsonObject) => session.call(tool, args);
      return {
        token: session.token,
        id: session.session.id,
        call: async (tool, args) => (await made(tool, args)).result as unknown as JsonObject,
        text: async (tool, args) => (await made(tool, args)).response.spoken?.text,
      };
    },
  };
}
