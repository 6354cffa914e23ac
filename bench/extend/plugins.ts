/**
 * What a plugin costs beside a tool with the kernel's own interface that does the same, in the kernel's process
 * and in one of its own, and what a component costs. Through the door of a whole kernel, one call after the other.
 */
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { defineTool } from "../../src/tools/kit/define-tool.ts";
import type { ToolPlugin } from "../../src/tools/plugin/plugin.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const PROJECT = new URL("../../", import.meta.url);
const parameters = z.strictObject({ word: z.string() });
const capability = { effect: "read", risk: "low", approval: { level: "auto" } } as const;

const own = defineTool({
  name: "own",
  title: "own",
  description: "Answers a word.",
  parameters,
  capability,
  analyse: () => [],
  execute: ({ word }) => ({ kind: "data", data: { success: true, output: word } }),
});

const plugin: ToolPlugin<{ word: string }> = {
  name: "plugged",
  description: "Answers a word.",
  parameters,
  capability,
  analyse: () => [],
  execute: async ({ word }) => ({ success: true, output: word }),
};

const MODULE = `import { z } from "${new URL("node_modules/zod/index.js", PROJECT).href}";
export default {
  name: "apart", description: "Answers a word.", parameters: z.strictObject({ word: z.string() }),
  capability: { effect: "read", risk: "low", approval: { level: "auto" } },
  async execute({ word }) { return { success: true, output: word }; },
};
`;

/** The figures. */
export async function measurePlugins(playground: Playground, effort: Effort): Promise<Row[]> {
  const { path } = playground.workspace("extend", 1);
  const configDirectory = playground.directory("config-extend");
  mkdirSync(join(configDirectory, "components"), { mode: 0o700 });
  copyFileSync(
    new URL("examples/components/built/json-format.wasm", PROJECT),
    join(configDirectory, "components", "json-format.wasm"),
  );
  writeFileSync(join(configDirectory, "handrail.yaml"), "preset: open\n", { mode: 0o600 });
  const module = join(configDirectory, "apart.mjs");
  writeFileSync(module, MODULE, { mode: 0o600 });
  const kernel = await createKernel({
    stateDirectory: playground.directory("state-extend"),
    configDirectory,
    environment: playground.environment,
    tools: [own],
    plugins: [plugin, module],
    onWarning: () => undefined,
  });
  try {
    const session = await kernel.openSession({ workspace: path });
    const side = (tool: string, args: object, count = effort.calls) => {
      return () => microsecondsEachAwaited(count, () => called(session, tool, args));
    };
    const tool = side("own", { word: "a" });
    const plugged = side("plugged", { word: "a" });
    const apart = side("apart", { word: "a" });
    const component = side("json_format", { json: '{"a":[1,2]}' }, Math.min(effort.calls, 100));
    for (const each of [tool, plugged, apart, component]) await each();
    const common = { peer: "a tool of the kernel's interface", unit: "µs", better: "lower" } as const;
    return [
      await interleave(
        { id: "plugin-here", what: "plugin in the kernel's thread", ...common },
        effort.rounds,
        plugged,
        tool,
      ),
      await interleave(
        { id: "plugin-process", what: "plugin in its own process", ...common },
        effort.rounds,
        apart,
        tool,
      ),
      await interleave(
        { id: "component-call", what: "component that formats JSON, a fresh instance each", ...common },
        effort.rounds,
        component,
        tool,
      ),
    ];
  } finally {
    await kernel.close();
  }
}

async function called(session: KernelSession, tool: string, args: object): Promise<void> {
  const { response } = await session.call(tool, args as never);
  if (response.outcome.kind !== "success") throw new Error(`a call was refused: ${JSON.stringify(response.outcome)}`);
}
