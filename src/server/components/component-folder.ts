/**
 * Plans the tools of the operator's folder of components, and puts a plan in force in one step.
 *
 * INVARIANTS: a component that is refused is no tool, or stays the version that it was; what is in force keeps to the
 * settings in force. A tool keeps its name against every other file.
 */
import { readdirSync } from "node:fs";
import { configInvalid } from "../../base/errors.ts";
import { type ComponentSettings, PLAIN_COMPONENT } from "../../config/sections/tools/added-tools.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { requireOwnerOnly } from "../operator/operator-directory.ts";
import type { LoadedModule } from "../plugins/plugged-tools.ts";
import {
  isGrantedTheSame,
  type LoadedComponent,
  loadComponent,
  readComponent,
  requirePinned,
} from "./component-file.ts";

/** Components of one kernel. */
const COMPONENTS_MAX = 64;

/** Settings of components by their files' names without `.wasm`. */
export type SettingsByName = Readonly<Record<string, ComponentSettings>>;

/** A file that is not loaded as it is. */
export interface RefusedFile {
  readonly file: string;
  readonly problem: string;
  /** The version that stays. */
  readonly kept?: LoadedComponent;
}

/** What is to be in force, and how it differs from what is. */
export interface FolderPlan {
  readonly tools: readonly Tool[];
  readonly loaded: readonly { readonly one: LoadedComponent; readonly replaces?: LoadedComponent }[];
  readonly withdrawn: readonly { readonly one: LoadedComponent; readonly why: "removed" | "refused" }[];
  readonly refused: readonly RefusedFile[];
  /** Puts it in force, at once. Calls in flight end with the version that they began with. */
  readonly commit: () => void;
  /** Ends what was loaded for it. */
  readonly drop: () => void;
}

/** The components of one kernel. */
export class ComponentFolder {
  readonly directory: string;
  #inForce: ReadonlyMap<string, LoadedComponent> = new Map();

  constructor(directory: string) {
    this.directory = directory;
  }

  /** The tools in force, in the order of file names. */
  get tools(): readonly Tool[] {
    return [...this.#inForce.values()].map(({ tool }) => tool);
  }

  /** What is in force, as a plan says it. */
  get loaded(): FolderPlan["loaded"] {
    return [...this.#inForce.values()].map((one) => ({ one }));
  }

  /**
   * Reads the folder and loads what is not in force as it stands there.
   * @param isTaken whether a tool of another source has that name
   * @throws KernelError CONFIG_INVALID where the folder is not the operator's alone, or holds too many
   */
  async plan(settings: SettingsByName, isTaken: (name: string) => boolean): Promise<FolderPlan> {
    const files = this.#files();
    const next = new Map<string, LoadedComponent>();
    const plan = { loaded: [] as FolderPlan["loaded"][number][], refused: [] as RefusedFile[] };
    /** By the names of tools: a version in force keeps its own. */
    const owners = new Map<string, string>();
    for (const file of files) {
      const old = this.#inForce.get(file);
      if (old !== undefined) owners.set(old.tool.name, file);
    }
    for (const file of files) {
      const old = this.#inForce.get(file);
      const own = settings[file.slice(0, -".wasm".length)] ?? PLAIN_COMPONENT;
      try {
        const read = readComponent(this.directory, file);
        const isSame = old?.digest === read.digest && isGrantedTheSame(old.settings, own);
        if (isSame) requirePinned(own, old.digest);
        const takenElsewhere = (name: string) => isTaken(name) || (owners.get(name) ?? file) !== file;
        const one = isSame
          ? { ...old, settings: own }
          : await loadComponent(read, { file, settings: own, isTaken: takenElsewhere, replaces: old });
        if (!isSame) plan.loaded.push({ one, ...(old && { replaces: old }) });
        if (old !== undefined) owners.delete(old.tool.name);
        owners.set(one.tool.name, file);
        next.set(file, one);
      } catch (error) {
        const kept = old !== undefined && mayStay(old, own) ? { ...old, settings: own } : undefined;
        if (kept !== undefined) next.set(file, kept);
        else if (old !== undefined) owners.delete(old.tool.name);
        plan.refused.push({ file, problem: problemOf(error), ...(kept && { kept }) });
      }
    }
    const withdrawn = [...this.#inForce.values()]
      .filter(({ file }) => !next.has(file))
      .map((one) => ({ one, why: files.includes(one.file) ? "refused" : "removed" }) as const);
    return {
      ...plan,
      withdrawn,
      tools: [...next.values()].map(({ tool }) => tool),
      commit: () => this.#commit(next),
      drop: () => {
        for (const { one } of plan.loaded) one.component.retire();
      },
    };
  }

  /** Ends all threads without work; each other one ends with its call. */
  close(): void {
    for (const { component } of this.#inForce.values()) component.retire();
  }

  #files(): readonly string[] {
    requireOwnerOnly(this.directory);
    const files = readdirSync(this.directory).filter((name) => name.endsWith(".wasm"));
    if (files.length > COMPONENTS_MAX)
      throw configInvalid(`\`${this.directory}\` holds more than ${COMPONENTS_MAX} components; remove some`);
    return files.sort();
  }

  #commit(next: ReadonlyMap<string, LoadedComponent>): void {
    const before = this.#inForce;
    this.#inForce = next;
    for (const { file, component } of before.values()) if (next.get(file)?.component !== component) component.retire();
  }
}

/** A component for the evidence. */
export function moduleOf({ file, digest, tool }: LoadedComponent): LoadedModule {
  return { module: `components/${file}`, digest, inProcess: false, tools: [tool.name] };
}

/** Whether settings still grant a version what it was loaded with, and pin no other file. */
function mayStay(old: LoadedComponent, now: ComponentSettings): boolean {
  const isPinned = now.digest === undefined || now.digest === `blake3:${old.digest}`;
  return isPinned && isGrantedTheSame(old.settings, now);
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
