/**
 * Selects the part of the machine that every run sees, read-only.
 *
 * This is the machine's programs and libraries, and the few files of `/etc` that they need. No home is visible,
 * nobody's configuration and no state of Handrail.
 */
import { lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { KernelError } from "../../base/errors.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { SandboxMount } from "../plan/plan.ts";

/** Directories of programs beside `/usr`: links into it on most machines. */
const PROGRAM_DIRECTORIES = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/** Of `/etc`: how programs are found and linked, time, names of services, certificates. Nothing that names a person. */
const SETTINGS = [
  ..."alternatives ca-certificates ca-certificates.conf gai.conf ld.so.cache ld.so.conf ld.so.conf.d".split(" "),
  ..."localtime mime.types nsswitch.conf pki protocols services".split(" "),
  ..."ssl/cert.pem ssl/certs ssl/openssl.cnf timezone".split(" "),
];

/** Mounts for every run, and the directories of programs that `PATH` names inside. */
export interface SystemView {
  readonly mounts: readonly SandboxMount[];
  readonly path: readonly string[];
  /** Sources of mounts that may lie where the user of commands cannot go. */
  readonly toolchains: readonly string[];
}

/**
 * The view of this machine.
 * @param toolchains directories outside of `/usr` with programs, as the operator names them; each is seen under its own
 * path
 * @throws KernelError CONFIG_INVALID for a toolchain that is no directory
 */
export function systemView(toolchains: readonly string[]): SystemView {
  const mounts: SandboxMount[] = [{ kind: "read_only", source: "/usr", target: "/usr" }];
  for (const path of PROGRAM_DIRECTORIES) mounts.push(...programDirectory(path));
  for (const name of SETTINGS) if (exists(join("/etc", name))) mounts.push(readOnly(join("/etc", name)));
  const named = [...new Set(toolchains.map(required))].map(readOnly);
  const own = ownToolchain(realpathSync(process.execPath));
  mounts.push(...named, ...own.mounts);
  return {
    mounts,
    path: [
      ...new Set([...named.flatMap(({ target }) => programsOf(target)), ...own.path]),
      ...["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
    ],
    toolchains: [...named, ...own.mounts].flatMap((mount) => ("source" in mount ? mount.source : [])),
  };
}

/**
 * Refuses a program that no run would find; one with a path is looked for by the run itself.
 * @throws ToolFailure NOT_SUPPORTED
 */
export function requireProgram({ path }: SystemView, program: string): void {
  if (program.includes("/")) return;
  if (program.length <= PROGRAM_CHARACTERS_MAX && path.some((directory) => isProgram(join(directory, program)))) return;
  const name = program.slice(0, PROGRAM_CHARACTERS_MAX).toWellFormed();
  throw new FailureWithoutEffect(
    "NOT_SUPPORTED",
    `the program \`${name}\` is not installed where commands look for programs: ${path.join(", ")}`,
    "ask the operator to install it there, or to name the directory of its toolchain under `sandbox.toolchains` in handrail.yaml",
  );
}

/** No file has a longer name. */
const PROGRAM_CHARACTERS_MAX = 255;

function isProgram(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() === true && (found.mode & 0o111) !== 0;
}

function programDirectory(path: string): readonly SandboxMount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (found.isSymbolicLink()) return [{ kind: "link", points: readlinkSync(path), target: path }];
  return [readOnly(path)];
}

/**
 * The Node that runs Handrail, where that is not in `/usr`: tests of Node projects need one. Of the directory above it
 * only what belongs to it, for that may be somebody's home: the program, its packages, and the links in between.
 */
export function ownToolchain(node: string): {
  readonly mounts: readonly SandboxMount[];
  readonly path: readonly string[];
} {
  if (node.startsWith("/usr/")) return { mounts: [], path: [] };
  const programs = dirname(node);
  const packages = join(dirname(programs), "lib/node_modules");
  const links = readdirSync(programs, { withFileTypes: true }).flatMap((entry): readonly SandboxMount[] => {
    const points = entry.isSymbolicLink() ? readlinkSync(join(programs, entry.name)) : "";
    return points.startsWith("../lib/node_modules/")
      ? [{ kind: "link", points, target: join(programs, entry.name) }]
      : [];
  });
  const hasPackages = statSync(packages, { throwIfNoEntry: false })?.isDirectory() === true;
  return { mounts: [readOnly(node), ...(hasPackages ? [readOnly(packages), ...links] : [])], path: [programs] };
}

function programsOf(toolchain: string): readonly string[] {
  const below = join(toolchain, "bin");
  return exists(below) ? [below] : [toolchain];
}

function required(path: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  throw new KernelError(
    "CONFIG_INVALID",
    `the toolchain \`${path}\` is not a directory; correct \`sandbox.toolchains\``,
  );
}

function readOnly(path: string) {
  return { kind: "read_only", source: path, target: path } as const;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
