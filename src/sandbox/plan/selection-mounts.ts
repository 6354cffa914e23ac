/**
 * Plans the mounts of a selection, a workspace that holds only what the kernel names.
 *
 * A selection is for programs that obey files which nobody has judged. The functions are pure.
 *
 * INVARIANTS: with `rest: "nothing"` no directory of the workspace is mounted but those that are named, so that nothing
 * appears in the selection while the command runs. Nothing of the workspace can be written but these directories.
 */
import type { ExecSelection, FilledDirectory } from "../../model/work/exec.ts";
import { INSIDE_COVERED, INSIDE_WORKSPACE, insideWorkspace, type SandboxFile, type SandboxMount } from "./plan.ts";

/**
 * The mounts of `selection`, whose directories the call may write.
 * @param source where mounts find the workspace, absolute
 * @param scoped the mounts of the workspace by the scope of the call
 */
export function selectionMounts(
  source: string,
  scoped: readonly SandboxMount[],
  selection: ExecSelection,
): readonly SandboxMount[] {
  return [...restOf(source, scoped, selection), ...selection.directories.map((directory) => filled(source, directory))];
}

/** The selection's own files as the plan has them. */
export function selectionFiles({ files }: ExecSelection): readonly SandboxFile[] {
  return files.map(({ path, text }) => ({ target: insideWorkspace(path), text }));
}

function restOf(source: string, scoped: readonly SandboxMount[], { rest }: ExecSelection): readonly SandboxMount[] {
  if (rest === "read_only")
    return scoped.map((mount) => (mount.kind === "writable" ? { ...mount, kind: "read_only" } : mount));
  return [
    { kind: "read_only", source, target: INSIDE_COVERED },
    { kind: "hide_directory", target: INSIDE_COVERED },
    { kind: "empty_directory", target: INSIDE_WORKSPACE },
  ];
}

function filled(source: string, { path, at }: FilledDirectory): SandboxMount {
  const mount = { kind: "writable", source: `${source}/${path}` } as const;
  return at === undefined ? { ...mount, target: insideWorkspace(path) } : { ...mount, target: at, part: path };
}
