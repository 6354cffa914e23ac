/**
 * Reads from git's history which files were changed together with one, for the code handle.
 *
 * Git runs in the sandbox as for any other look at a repository: nothing of the repository's runs, and of what it
 * prints only names are kept that the call may be told. INVARIANT: without a lease and a policy that leave the caller
 * `git:log`, history says nothing.
 */
import { MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { ChangedTogether } from "../../../model/place/code.ts";
import { resolveWorkspacePath } from "../../../model/place/workspace.ts";
import type { FoundRepository } from "../../../model/work/git.ts";
import { rootPath } from "../../../sandbox/files/places/roots.ts";
import { gitEnvironment } from "../../../sandbox/git/environment.ts";
import { insideWorkspace, type ScopeJudge } from "../../../sandbox/sandbox.ts";
import type { ResolvedAccess } from "../../call/stages.ts";
import { evaluateAccesses } from "../../judge/decide.ts";
import { checkNamed } from "../../judge/lease-names.ts";
import { type HandleParts, programQuestion } from "../handle-parts.ts";
import { requireAllowed } from "../still-allowed.ts";

/** Commits of the file that are looked at, newest first. */
const COMMITS_MAX = 400;
/** Files of a commit from which on it says nothing: it moved or formatted a tree. */
const FILES_OF_COMMIT_MAX = 60;
/** Bytes of names that git may print. */
const OUTPUT_BYTES_MAX = 4 * MIB;
/** Milliseconds that it may take; history is only one of the reasons. */
const TIMEOUT_MS = 15_000;
/** What begins a commit in what git prints: no name of a file holds it behind a null byte. */
const COMMIT = "\u0001";

/** Sees everything: git runs no code of an agent's, and what it prints is judged name by name. */
const EVERYTHING: ScopeJudge = { entry: () => "read", below: () => "read", isWhole: () => true };

/** What was changed together with `file`, as far as `mayTell`. */
export async function changedTogether(
  handle: HandleParts,
  mayTell: (place: WorkspacePath) => boolean,
  file: string,
): Promise<ChangedTogether> {
  const { place } = handle.running.caller;
  const resolved = resolveWorkspacePath(place.workspace, file);
  if (!resolved.ok || resolved.value.root !== "service") return NO_REPOSITORY;
  const { path } = resolved.value;
  const repository = place.repository?.(path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : ".");
  if (repository?.kind !== "found" || repository.commit === undefined) return NO_REPOSITORY;
  if (!mayReadHistory(handle)) return { kind: "none", why: "not_allowed" };
  const printed = await printedBy(handle, repository, fromRoot(repository, path));
  if (printed === undefined) return { kind: "none", why: "unreadable" };
  return counted(printed, (name) => {
    const inWorkspace = repository.root === "." ? name : `${repository.root}/${name}`;
    return inWorkspace !== path && mayTell({ root: "service", path: inWorkspace }) ? inWorkspace : undefined;
  });
}

const NO_REPOSITORY: ChangedTogether = { kind: "none", why: "no_repository" };

function fromRoot({ root }: FoundRepository, path: string): string {
  return root === "." ? path : path.slice(root.length + 1);
}

function mayReadHistory({ running }: HandleParts): boolean {
  const resource = { kind: "git_ref", ref: "HEAD", operation: "log" } as const;
  if (checkNamed(running.caller.lease, resource) !== undefined) return false;
  const access: ResolvedAccess = { resource, effect: "read", action: "git:log" };
  const decided = evaluateAccesses(programQuestion(running), [access]);
  return decided.ok && decided.value.obligations.length === 0;
}

async function printedBy(
  handle: HandleParts,
  { root, settings }: FoundRepository,
  path: string,
): Promise<string | undefined> {
  const { kernel, running, signal } = handle;
  const { sandbox } = kernel.parts;
  const directory = insideWorkspace(root);
  const pieces: Uint8Array[] = [];
  try {
    const opened = await sandbox.open();
    const end = await opened.run(
      {
        root: rootPath(running.caller.place.roots.service),
        judge: EVERYTHING,
        command: [
          ...(["git", "--literal-pathspecs", "log", "-z", "--no-renames", "--name-only", "--full-diff"] as const),
          ...["--no-merges", "--no-ext-diff", "--no-textconv", "--format=%x01", `--max-count=${COMMITS_MAX}`],
          ...["HEAD", "--", path],
        ],
        workDir: directory,
        environment: gitEnvironment({ directory, readOnly: true }),
        files: [{ target: `${directory}/.git/config`, text: settings }],
        limits: { ...sandbox.limits(), outputBytesMax: OUTPUT_BYTES_MAX, timeoutMs: TIMEOUT_MS },
      },
      { stdout: (bytes) => void pieces.push(bytes.slice()), stderr: () => undefined },
      signal,
    );
    await requireAllowed(handle);
    const isCut = end.endedBy === "output" || end.endedBy === "timeout";
    return end.exitCode === 0 || isCut ? Buffer.concat(pieces).toString("utf8") : undefined;
  } catch (error) {
    if (error instanceof ToolFailure && !signal.aborted) return undefined; // no sandbox here: the answer says so
    throw error;
  }
}

/** How often each name that `told` leaves stands beside the file. */
function counted(printed: string, told: (name: string) => string | undefined): ChangedTogether {
  const counts = new Map<string, number>();
  let commits = 0;
  for (const commit of printed.split(COMMIT).slice(1)) {
    commits += 1;
    const names = commit
      .split("\0")
      .map((name) => name.replace(/^\n/, ""))
      .filter((name) => name !== "");
    if (names.length > FILES_OF_COMMIT_MAX) continue;
    for (const name of names) {
      const shown = told(name);
      if (shown !== undefined) counts.set(shown, (counts.get(shown) ?? 0) + 1);
    }
  }
  return { kind: "counted", commits, files: [...counts].map(([path, count]) => ({ path, commits: count })) };
}
