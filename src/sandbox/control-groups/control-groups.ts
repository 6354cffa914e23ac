/**
 * Control groups of runs: what all processes of one run may use together, where this process may make such groups.
 *
 * A group is made once and used by one run after the other, because making and removing one costs more than a run.
 * INVARIANT: a group that cannot be given its limits confines nothing, and is not used: the run is then bounded process
 * by process, and its record says so.
 */
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxLimits } from "../plan/plan.ts";
import { CONTROLLERS, type ControlGroupLayout, type Controller, readLayout } from "./layout.ts";
import { groupPrefix, processNamespace, sweepLeftGroups } from "./left-groups.ts";

/** What a run used. */
export interface RunUsage {
  readonly processorMs: number;
  readonly memoryBytesMax: number;
  /** Processes that the machine killed, because all together wanted more memory than they may use. */
  readonly memoryKills: number;
}

/** The group of one run. */
export interface RunGroup {
  /**
   * Puts processes into the group; what they start from then on is in it too. The machine may take milliseconds for
   * each.
   */
  readonly confine: (processes: readonly number[]) => Promise<void>;
  /** Used by the run so far. */
  readonly usage: () => RunUsage;
  /** Gives the group back, once nothing is in it. */
  readonly release: () => void;
}

/** The groups that one kernel makes. */
export interface ControlGroups {
  /** Which version; for evidence and diagnosis. */
  readonly version: 1 | 2;
  /** A group with these limits. @throws Error when it cannot be made any more */
  readonly take: (limits: SandboxLimits) => RunGroup;
  /** Removes them all. */
  readonly close: () => void;
}

/** Groups of this process, or why there are none. `name` tells the kernels of a machine apart. */
export function openControlGroups(name: string): ControlGroups | { readonly problem: string } {
  const prefix = groupPrefix(processNamespace(), process.pid);
  let layout: ControlGroupLayout;
  try {
    layout = readLayout(readFileSync("/proc/self/mountinfo", "utf8"), readFileSync("/proc/self/cgroup", "utf8"));
  } catch {
    return { problem: "/proc cannot be read" };
  }
  const problems: string[] = [];
  for (const kind of [version1(layout), version2(layout)]) {
    if (kind === undefined) continue;
    const groups = new Groups(kind, `${prefix}-${name}`);
    const problem = groups.probe();
    if (problem !== undefined) {
      problems.push(problem);
      continue;
    }
    sweepLeftGroups(kind.parents);
    return groups;
  }
  return {
    problem: problems.length === 0 ? "the machine has no controllers for memory and processes" : problems.join("; "),
  };
}

interface Kind {
  readonly version: 1 | 2;
  /** Directories in which groups are made. */
  readonly parents: readonly string[];
  readonly settings: (limits: SandboxLimits) => readonly Setting[];
  /** Kills since the group was made, not of the run alone. */
  readonly usage: (group: (parent: number) => string) => RunUsage;
}

/** A file of a group below one of the parents, and what is written to it. */
type Setting = readonly [parent: number, file: string, value: string, isOptional?: "optional"];

const PERIOD_US = 100_000;

function version1({ version1: trees }: ControlGroupLayout): Kind | undefined {
  const { pids, memory } = trees;
  if (pids === undefined || memory === undefined) return undefined;
  const parents = [...new Set(CONTROLLERS.flatMap((name) => trees[name] ?? []))];
  const at = (name: Controller): number => parents.indexOf(trees[name] ?? "");
  return {
    version: 1,
    parents,
    settings: ({ processesMax, memoryBytesMax, processors }) => [
      [at("pids"), "pids.max", String(processesMax)],
      // the sum with swap can only be lowered after the part and raised before it
      [at("memory"), "memory.memsw.limit_in_bytes", "-1", "optional"],
      [at("memory"), "memory.limit_in_bytes", String(memoryBytesMax)],
      [at("memory"), "memory.memsw.limit_in_bytes", String(memoryBytesMax), "optional"],
      [at("memory"), "memory.max_usage_in_bytes", "0", "optional"],
      ...(trees.cpuacct === undefined ? [] : [[at("cpuacct"), "cpuacct.usage", "0", "optional"] as const]),
      ...(trees.cpu === undefined
        ? []
        : [
            [at("cpu"), "cpu.cfs_period_us", String(PERIOD_US), "optional"] as const,
            [at("cpu"), "cpu.cfs_quota_us", String(Math.round(processors * PERIOD_US)), "optional"] as const,
          ]),
    ],
    usage: (group) => ({
      processorMs: trees.cpuacct === undefined ? 0 : numberIn(join(group(at("cpuacct")), "cpuacct.usage")) / 1e6,
      memoryBytesMax: numberIn(join(group(at("memory")), "memory.max_usage_in_bytes")),
      memoryKills: killsIn(join(group(at("memory")), "memory.oom_control")),
    }),
  };
}

function version2({ version2: own }: ControlGroupLayout): Kind | undefined {
  if (own === undefined) return undefined;
  return {
    version: 2,
    parents: [own],
    settings: ({ processesMax, memoryBytesMax, processors }) => [
      [0, "pids.max", String(processesMax)],
      [0, "memory.max", String(memoryBytesMax)],
      [0, "memory.swap.max", "0", "optional"],
      [0, "cpu.max", `${Math.round(processors * PERIOD_US)} ${PERIOD_US}`, "optional"],
    ],
    usage: (group) => ({
      processorMs:
        Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(group(0), "cpu.stat"), "utf8"))?.[1] ?? 0) / 1000,
      memoryBytesMax: numberIn(join(group(0), "memory.peak")),
      memoryKills: killsIn(join(group(0), "memory.events")),
    }),
  };
}

function numberIn(path: string): number {
  return Number(readFileSync(path, "latin1").trim());
}

function killsIn(path: string): number {
  return Number(/^oom_kill (\d+)$/m.exec(readFileSync(path, "latin1"))?.[1] ?? 0);
}

class Groups implements ControlGroups {
  readonly #kind: Kind;
  readonly #name: string;
  readonly #free: string[] = [];
  readonly #made: string[] = [];
  /** By group, as they were when it was last looked at. */
  readonly #kills = new Map<string, number>();

  constructor(kind: Kind, name: string) {
    this.#kind = kind;
    this.#name = name;
  }

  get version(): 1 | 2 {
    return this.#kind.version;
  }

  /** Why no group can be made and limited here; `undefined` when one can. */
  probe(): string | undefined {
    try {
      this.take({ processesMax: 64, memoryBytesMax: 2 ** 28, processors: 1 } as SandboxLimits).release();
      return undefined;
    } catch (error) {
      this.close();
      return `version ${this.version}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  take(limits: SandboxLimits): RunGroup {
    const group = this.#free.pop() ?? this.#make();
    const at = (parent: number): string => join(this.#kind.parents[parent] ?? "", group);
    for (const [parent, file, value, isOptional] of this.#kind.settings(limits)) {
      try {
        writeFileSync(join(at(parent), file), value);
      } catch (error) {
        if (isOptional === undefined) throw error;
      }
    }
    return {
      confine: async (processes) => {
        const outside = processes.filter((id) => !this.#isIn(group, id));
        const joining = this.#kind.parents.flatMap((_, parent) =>
          outside.map((id) => writeFile(join(at(parent), "cgroup.procs"), String(id))),
        );
        await Promise.all(joining);
      },
      usage: () => {
        const used = this.#kind.usage(at);
        const before = this.#kills.get(group) ?? 0;
        this.#kills.set(group, used.memoryKills);
        return { ...used, memoryKills: used.memoryKills - before };
      },
      release: () => void this.#free.push(group),
    };
  }

  close(): void {
    for (const group of this.#made.splice(0)) {
      for (const parent of this.#kind.parents) {
        try {
          rmdirSync(join(parent, group));
        } catch {
          // It was never made in this tree, or something is still ending in it: an empty group bounds nobody else.
        }
      }
    }
    this.#free.length = 0;
  }

  /** Whether a process is in the group in all trees. */
  #isIn(group: string, id: number): boolean {
    const places = readFileSync(`/proc/${id}/cgroup`, "latin1").split("\n");
    return places.filter((place) => place.endsWith(`/${group}`)).length >= this.#kind.parents.length;
  }

  #make(): string {
    const group = `${this.#name}-${this.#made.length}`;
    this.#made.push(group);
    for (const parent of this.#kind.parents) mkdirSync(join(parent, group), { recursive: true });
    return group;
  }
}
