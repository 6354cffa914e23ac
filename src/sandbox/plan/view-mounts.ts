/**
 * Mounts of a view: a workspace that holds only what the kernel names, for programs that obey files which nobody has judged. Pure.
 *
 * INVARIANTS: with `rest: "nothing"` no directory of the workspace is mounted but those that are named, so that nothing appears in the view while the
 * command runs; of the workspace nothing can be written but these directories.
 */
import type { ExecView, ViewedDirectory } from "../../model/exec.ts";
import { INSIDE_COVERED, INSIDE_WORKSPACE, type SandboxFile, type SandboxMount } from "./plan.ts";

/**
 * The mounts of `view`, whose directories the call may write.
 * @param source where mounts find the workspace, absolute
 * @param scoped the mounts of the workspace by the scope of the call
 */
export function viewMounts(source: string, scoped: readonly SandboxMount[], view: ExecView): readonly SandboxMount[] {
  return [...restOf(source, scoped, view), ...view.directories.map((directory) => filled(source, directory))];
}

/** The view's own files as the plan has them. */
export function viewFiles({ files }: ExecView): readonly SandboxFile[] {
  return files.map(({ path, text }) => ({ target: inside(path), text }));
}

function restOf(source: string, scoped: readonly SandboxMount[], { rest }: ExecView): readonly SandboxMount[] {
  if (rest === "read_only") return scoped.map((mount) => (mount.kind === "writable" ? { ...mount, kind: "read_only" } : mount));
  return [
    { kind: "read_only", source, target: INSIDE_COVERED },
    { kind: "hide_directory", target: INSIDE_COVERED },
    { kind: "empty_directory", target: INSIDE_WORKSPACE },
  ];
}

function filled(source: string, { path, at }: ViewedDirectory): SandboxMount {
  const mount = { kind: "writable", source: `${source}/${path}` } as const;
  return at === undefined ? { ...mount, target: inside(path) } : { ...mount, target: at, part: path };
}

function inside(path: string): string {
  return `${INSIDE_WORKSPACE}/${path}`;
}
