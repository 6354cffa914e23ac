/** The backend `bwrap`: runs are made by bubblewrap, which needs no rights of its own. */
import { existsSync, readFileSync } from "node:fs";
import { findProgram, missingProgram } from "../host/programs.ts";
import type { Identity } from "../identity/identity.ts";
import { overlayPrefix } from "../layers/overlay.ts";
import { memoryFileOf } from "../native/memory-file.ts";
import { descriptorOf } from "../native/pipes.ts";
import type { SandboxPlan } from "../plan/plan.ts";
import { settingFiles } from "../plan/setting-files.ts";
import type { Backend } from "../run/backend.ts";
import type { Carried, Launch } from "../run/launch.ts";
import { mountProblem } from "../run/mount-check.ts";
import { kill, terminate } from "../run/process-tree.ts";
import { bwrapArguments, type DESCRIPTORS, KEY_NAMES } from "./bwrap-arguments.ts";

const PROGRAMS = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/** @param programs where bubblewrap may be, absolute */
export function bwrapBackend(programs: readonly string[] = PROGRAMS): Backend {
  const require = (): string => {
    const program = findProgram(programs);
    if (program !== undefined) return program;
    throw missingProgram("commands cannot be contained here, because bubblewrap is not installed", "bubblewrap");
  };
  return {
    name: "bwrap",
    find: () => findProgram(programs),
    require,
    launch: async (plan, identity) => bwrapLaunch(plan, { program: require(), ...identity }),
    close: () => undefined,
  };
}

/** How bwrap is started on this machine. */
export type BwrapProgram = Pick<Identity, "prefix" | "runAs" | "layers"> & { readonly program: string };

/**
 * The launch of `plan` by bwrap. It trusts bwrap's status, not its exit code: a command has ended when bwrap says so.
 */
export function bwrapLaunch(plan: SandboxPlan, { program, prefix, runAs, layers }: BwrapProgram): Launch {
  const files = settingFiles();
  const told = bwrapArguments(
    plan,
    KEY_NAMES.filter((path) => existsSync(path)),
  );
  const text = (content: string): Carried => ({ opened: () => descriptorOf(Buffer.from(content)) });
  const carried: Record<keyof typeof DESCRIPTORS, Carried> = {
    seccomp: { opened: () => descriptorOf(plan.seccomp.bytes) },
    status: "status",
    gate: "gate",
    ready: "ready",
    passwd: text(files.passwd),
    group: text(files.group),
    hosts: text(files.hosts),
    options: { opened: () => memoryFileOf(told.options) },
  };
  const own = (plan.files ?? []).map((file): Carried => ({ opened: () => memoryFileOf(Buffer.from(file.text)) }));
  const [first = program, ...rest] = [
    ...prefix,
    ...(layers === undefined ? [] : overlayPrefix(layers)),
    program,
    ...told.line,
  ];
  return {
    command: [first, ...rest],
    runAs: prefix.length === 0 ? runAs : undefined,
    owner: runAs,
    descriptors: [...Object.values(carried), ...own],
    seccomp: plan.seccomp.digest,
    firstProcess: ({ status }) => numberIn(/"child-pid"\s*:\s*(\d+)/.exec(status)),
    exitCode: ({ status }) => numberIn(/"exit-code"\s*:\s*(\d+)/.exec(status)),
    problem: (first) => mountProblem(plan, readFileSync(`/proc/${first}/mountinfo`, "utf8")),
    terminate,
    kill,
  };
}

function numberIn(found: RegExpExecArray | null): number | undefined {
  return found === null ? undefined : Number(found[1]);
}
