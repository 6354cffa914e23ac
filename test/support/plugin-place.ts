/** A kernel with plugins, and what their calls come to. */
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Outcome } from "../../src/model/tool/call.ts";
import { createKernel, type Kernel, type KernelSession } from "../../src/server/doors/library.ts";
import type { PluginSource } from "../../src/server/plugins/load-plugins.ts";
import { freshPlace, type Place } from "./place.ts";

/** The place, its kernel and a session. */
export interface PluginPlace {
  readonly place: Place;
  readonly kernel: Kernel;
  readonly session: KernelSession;
  readonly call: (tool: string, args: JsonObject) => Promise<Outcome>;
}

/** How to open it. */
export interface PluginWish {
  readonly settings?: string;
  readonly preset?: "dev" | "open";
  readonly place?: Place;
}

/** Opens it under `open`, so that nobody is asked but by capabilities, which are waived with `handrail.yaml`. */
export async function pluginPlace(
  plugins: readonly PluginSource[],
  { settings = "", preset = "open", place = freshPlace() }: PluginWish = {},
): Promise<PluginPlace> {
  place.put("config/handrail.yaml", `preset: ${preset}\n${settings}`);
  place.put("workspace/a.txt", "one\n");
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    plugins,
    onWarning: () => undefined,
    onInternalError: () => undefined,
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  return { place, kernel, session, call: async (tool, args) => (await session.call(tool, args)).response.outcome };
}

/** What `handrail.yaml` says so that `tools` ask nobody. */
export function unasked(...tools: readonly string[]): string {
  return `capabilities:\n${tools.map((tool) => `  ${tool}: { approval: auto }\n`).join("")}`;
}
