/**
 * The program that runs a plugin's module: imports it, says what it offers, and makes one call at a time.
 *
 * It gets arguments and facts, no handle on the workspace, and an empty environment. It ends with the kernel.
 */
import process from "node:process";
import * as z from "zod";
import { assert } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import { endWithParent } from "../../sandbox/ports/end-with-parent.ts";
import type { ToolPlugin } from "../../tools/plugin/plugin.ts";
import type { DescribedPlugin, PluginCall, PluginReply } from "./plugin-messages.ts";

const [, , module] = process.argv;
assert(module !== undefined && process.send !== undefined, "a plugin's program is started by a kernel");

endWithParent();
process.channel?.unref(); // a module that waits for what never comes ends here

const say = (reply: PluginReply) => void process.send?.(reply);
const wordsOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const plugins = await load();
process.channel?.ref();
process.on("message", (call: PluginCall) => void answer(call));

async function load(): Promise<ReadonlyMap<string, ToolPlugin>> {
  try {
    const { default: exported } = (await import(module as string)) as {
      readonly default?: ToolPlugin | readonly ToolPlugin[];
    };
    const all = exported === undefined ? [] : Array.isArray(exported) ? exported : [exported as ToolPlugin];
    if (all.length === 0) throw new Error("its default export is neither a plugin nor a list of plugins");
    say({ kind: "plugins", plugins: all.map(described) });
    return new Map(all.map((plugin) => [plugin.name, plugin]));
  } catch (error) {
    say({ kind: "broken", problem: wordsOf(error) });
    return new Map();
  }
}

function described({ name, description, parameters, capability, analyse }: ToolPlugin): DescribedPlugin {
  const strict = parameters instanceof z.ZodObject ? parameters.strict() : parameters;
  const schema = z.toJSONSchema(strict, { io: "input" }) as JsonObject;
  return { name, description, schema, capability, isAnalysed: analyse !== undefined };
}

async function answer({ name, args, facts }: PluginCall): Promise<void> {
  try {
    const plugin = plugins.get(name);
    if (plugin === undefined) throw new Error("the module has no such plugin any more");
    const parsed = plugin.parameters.parse(args);
    const refuse = async () => {
      throw new Error(
        "a plugin in a process of its own has no handle on the workspace; load it with `inProcess` and add `analyse`",
      );
    };
    const none = new Proxy({}, { get: () => refuse });
    const given = await plugin.execute(parsed as never, {
      ...facts,
      approvals: [...facts.approvals],
      signal: new AbortController().signal, // the process is ended when its call is
      sandbox: { runContainer: refuse },
      audit: {
        log: async (category, event, noted = {}) => say({ kind: "note", category, event, facts: noted }),
      },
      files: none as never,
      search: none as never,
    });
    say({ kind: "answer", answer: given });
  } catch (error) {
    say({ kind: "failed", problem: wordsOf(error) });
  }
}
