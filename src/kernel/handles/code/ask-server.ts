/**
 * Asks a language server for the code handle.
 *
 * It runs in a sandbox that shows the workspace as the call may read it: the server may be code of the workspace's own,
 * so it sees no more than that, writes nothing and reaches nothing. INVARIANT: a call is answered only by a server that
 * sees exactly what this call may read, and the call is judged again after every wait.
 */
import { GIB, MIB } from "../../../base/bytes.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type { NoServer, Unserved } from "../../../model/place/code.ts";
import { cancelled } from "../../../sandbox/files/places/failures.ts";
import { rootPath } from "../../../sandbox/files/places/roots.ts";
import { isTemporaryName } from "../../../sandbox/files/places/temporary.ts";
import { changedFiles } from "../../../sandbox/language/changed-files.ts";
import { LanguageServers, type ServerWanted, type WarmServer } from "../../../sandbox/language/language-servers.ts";
import { type ServerKind, serverKindOf } from "../../../sandbox/language/server-kinds.ts";
import { ServerFailure, ServerRefusal } from "../../../sandbox/language/server-process.ts";
import { INSIDE_WORKSPACE, type Sandbox, type ScopeJudge } from "../../../sandbox/sandbox.ts";
import { readPlace } from "../../../sandbox/search/indexed-files.ts";
import { leavesReading } from "../../judge/scope.ts";
import type { HandleParts } from "../handle-parts.ts";
import { requireAllowed } from "../still-allowed.ts";

/** Milliseconds that one server lives at most, and bytes that it may say in that time. */
const LIFE_MS = 3_600_000;
const SAID_BYTES_MAX = 8 * GIB;
/** Processes and threads of a server at least, and open files. */
const PROCESSES_MIN = 100;
const OPEN_FILES_MIN = 16_384;
/** Characters of what it says that are passed on. */
const SAID_CHARACTERS_MAX = 600;
/** Milliseconds before a server's start from which on a file's change may have been missed by it. */
const CLOCK_MS = 2000;

/** The servers of each sandbox: they end with it. */
const servers = new WeakMap<Sandbox, LanguageServers>();

/** Reads a file of the workspace as it is, for the server alone. */
export function rawText({ running }: HandleParts, path: string): string | undefined {
  const read = readPlace(running.caller.place.roots, { root: "service", path });
  return typeof read === "string" ? undefined : read.toString("utf8");
}

/** Asks the server that knows the file at `path`. @throws Refusal where the call may not go on */
export async function askServer<Answer>(
  handle: HandleParts,
  path: string,
  work: (server: WarmServer) => Promise<Answer>,
): Promise<Answer | Unserved> {
  const settings = handle.kernel.parts.sandbox.languageServers?.();
  if (settings?.enabled !== true) return unserved("off", "the operator has switched language servers off");
  const kind = serverKindOf(path, settings.servers);
  if (kind === undefined) return unserved("unknown_language", "no language server is known for such files");
  try {
    const sandbox = await handle.kernel.parts.sandbox.open();
    if (!sandbox.isContained || !sandbox.takesInput)
      return unserved("not_contained", "this sandbox cannot hold a language server", kind.name);
    const pool = servers.get(sandbox) ?? new LanguageServers();
    servers.set(sandbox, pool);
    const wanted = await wantedServer(handle, { sandbox, kind, memoryMb: settings.memoryMb });
    const answer = await pool.ask(wanted, async (warm) => {
      await freshen(handle, warm);
      return await work(warm);
    });
    await requireAllowed(handle);
    return answer;
  } catch (error) {
    return troubleOf(handle, kind, error);
  }
}

interface ChosenServer {
  readonly sandbox: Sandbox;
  readonly kind: ServerKind;
  readonly memoryMb: number;
}

/** The server for what the call may read of its workspace now. */
async function wantedServer(handle: HandleParts, { sandbox, kind, memoryMb }: ChosenServer): Promise<ServerWanted> {
  const { kernel, running, signal } = handle;
  const root = rootPath(running.caller.place.roots.service);
  const judge = serverScope(handle);
  const mounts = await sandbox.mountsOf({ root, judge }, signal);
  const limits = kernel.parts.sandbox.limits();
  const run = {
    root,
    judge,
    command: kind.command,
    workDir: INSIDE_WORKSPACE,
    environment: {},
    ...(kind.files && { files: kind.files }),
    limits: {
      ...limits,
      timeoutMs: LIFE_MS,
      outputBytesMax: SAID_BYTES_MAX,
      memoryBytesMax: memoryMb * MIB,
      processesMax: Math.max(limits.processesMax, PROCESSES_MIN),
      openFilesMax: Math.max(limits.openFilesMax, OPEN_FILES_MIN),
    },
  };
  const start: ServerWanted["start"] = ({ input, output, signal: ending }, onMounts) =>
    sandbox.run({ ...run, input, onMounts }, output, ending);
  return { kind, root, mounts, memoryMb, signal, start };
}

/** Why there is no answer. @throws what is no fault of the server's */
function troubleOf({ running, signal }: HandleParts, { name, advice }: ServerKind, error: unknown): Unserved {
  if (signal.aborted) throw cancelled();
  const shown = (text: string) => running.redaction.words(text.slice(0, SAID_CHARACTERS_MAX));
  if (error instanceof ServerFailure) {
    const { trouble, message } = error;
    const why = trouble === "cancelled" ? "failed" : trouble;
    return unserved(why, trouble === "not_installed" ? `${shown(message)}; ${advice}` : shown(message), name);
  }
  // it lives on: it only does not do this
  if (error instanceof ServerRefusal) return unserved("failed", `it says: ${shown(error.message)}`, name);
  if (error instanceof ToolFailure) return unserved("failed", error.message, name);
  throw error;
}

/** That there is no answer, and why. */
export function unserved(why: NoServer, message: string, server?: string): Unserved {
  return { kind: "none", why, message, ...(server !== undefined && { server }) };
}

/** What the server sees: what the call may read, and what is installed, all of it read-only. */
function serverScope({ running: { caller, tool }, rules }: HandleParts): ScopeJudge {
  const { zones } = caller.place.workspace;
  const isHidden = (path: string, isDirectory: boolean): boolean => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (isDirectory && (name === ".git" || isTemporaryName(name))) return true;
    const place: WorkspacePath = { root: "service", path };
    const zone = zones.classify(place);
    if (zone === "secret") return true;
    if (zone === "managed" || isDirectory) return false;
    return !leavesReading(caller, tool.name, place) || !rules.judgeTree(place, zone);
  };
  return {
    entry: (path, isDirectory) => (isHidden(path, isDirectory) ? "hidden" : "read"),
    below: () => "read",
    hidesRepository: () => true,
    isWhole: (directory) => directory !== "." && zones.classify({ root: "service", path: directory }) === "managed",
  };
}

/** Files that stay open are shown as they are now. */
async function freshen(handle: HandleParts, { documents }: WarmServer): Promise<void> {
  for (const path of documents.paths) {
    const text = rawText(handle, path);
    if (text === undefined) await documents.hide(path);
    else await documents.show(path, text);
  }
}

/** Those of `files` that changed since the server began: what it watches by itself comes late. */
export function changedSince(
  handle: HandleParts,
  { startedAtMs }: WarmServer,
  files: readonly string[],
): readonly string[] {
  const root = rootPath(handle.running.caller.place.roots.service);
  return changedFiles(root, files, startedAtMs - CLOCK_MS);
}
