/**
 * Loads plugins of an embedding program, and modules of plugins.
 *
 * Modules run in processes of their own, unless they are trusted to run in the kernel's.
 *
 * INVARIANT: a module of the operator's lies in the operator's directory; none is ever loaded from a workspace.
 */
import { readFileSync, realpathSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as z from "zod";
import { configInvalid } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { fromPlugin } from "../../tools/plugin/adapt.ts";
import type { ToolPlugin } from "../../tools/plugin/plugin.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import type { LoadedModule, PluggedTools } from "./plugged-tools.ts";
import type { DescribedPlugin } from "./plugin-messages.ts";
import { PluginProcesses } from "./plugin-processes.ts";

/** A module that exports plugins by default. */
export interface PluginModule {
  readonly module: string | URL;
  /** Whether it runs in the kernel's own thread, with handles on what `analyse` names; it is trusted then. */
  readonly inProcess?: boolean;
}

/** A plugin, or a module of plugins. */
export type PluginSource = ToolPlugin | PluginModule | string | URL;

/** Loads what the embedding program gives and what the operator's settings name, in that order. */
export async function pluginTools(
  { path, settings }: Pick<OperatorDirectory, "path" | "settings">,
  given: readonly PluginSource[] = [],
): Promise<PluggedTools> {
  const tools: Tool[] = [];
  const modules: LoadedModule[] = [];
  const processes: PluginProcesses[] = [];
  const named = settings.plugins.map(({ module, in_process: inProcess }) => ({
    module: operatorsFile(path, module),
    name: module,
    inProcess,
  }));
  const close = () => {
    for (const each of processes) each.close();
  };
  for (const source of given) {
    if (typeof source === "object" && "execute" in source) tools.push(fromPlugin(source));
    else named.push(moduleOf(source));
  }
  try {
    for (const { module, name, inProcess } of named) {
      const loaded = inProcess ? await inThisThread(module, name) : await inProcesses(module, name, processes);
      tools.push(...loaded);
      const names = loaded.map((tool) => tool.name);
      modules.push({ module: name, digest: blake3Hex(readFileSync(module)), inProcess, tools: names });
    }
  } catch (error) {
    close();
    throw error;
  }
  return { tools, modules, close };
}

function moduleOf(source: PluginModule | string | URL) {
  const { module, inProcess = false } = typeof source === "object" && "module" in source ? source : { module: source };
  const path = module instanceof URL ? new URL(module).pathname : resolve(module);
  return { module: path, name: path, inProcess };
}

/** The real path of a file in the operator's directory. */
function operatorsFile(directory: string, name: string): string {
  let real: string;
  try {
    real = realpathSync(join(directory, name));
  } catch (error) {
    throw configInvalid(`plugins: there is no \`${name}\` in the operator's directory`, error);
  }
  if (relative(realpathSync(directory), real).startsWith(".."))
    throw configInvalid(`plugins: \`${name}\` leads out of the operator's directory; keep plugins there`);
  return real;
}

async function inThisThread(module: string, name: string): Promise<readonly Tool[]> {
  let exported: unknown;
  try {
    ({ default: exported } = (await import(pathToFileURL(module).href)) as { readonly default?: unknown });
  } catch (error) {
    throw configInvalid(
      `plugins: \`${name}\` cannot be loaded: ${error instanceof Error ? error.message : error}`,
      error,
    );
  }
  const all = (Array.isArray(exported) ? exported : [exported]) as readonly (ToolPlugin | undefined)[];
  return all.map((plugin) => {
    if (typeof plugin?.name !== "string") throw configInvalid(`plugins: \`${name}\` exports no plugin by default`);
    return fromPlugin(plugin);
  });
}

async function inProcesses(module: string, name: string, processes: PluginProcesses[]): Promise<readonly Tool[]> {
  const own = new PluginProcesses(pathToFileURL(module).href);
  const described = await own.describe().catch((error: Error) => {
    throw configInvalid(`plugins: \`${name}\`: ${error.message}`, error);
  });
  processes.push(own);
  return described.map((plugin) => fromPlugin(apart(name, plugin, own)));
}

/** A plugin whose code is elsewhere. */
function apart(module: string, { name, description, schema, ...rest }: DescribedPlugin, processes: PluginProcesses) {
  if (rest.isAnalysed)
    throw configInvalid(
      `plugins: \`${name}\` of \`${module}\` has \`analyse\`, which a process of its own cannot be asked; load it with \`in_process: true\``,
    );
  const plugin: ToolPlugin = {
    name,
    description,
    parameters: z.fromJSONSchema(schema as never),
    capability: rest.capability,
    execute: async (args, context) => {
      const { sandbox: _, audit, files: _files, search: _search, signal, ...facts } = context;
      const note = audit.log;
      return (await processes.call({ name, args, facts: { ...facts }, signal, note })) as never;
    },
  };
  return plugin;
}
