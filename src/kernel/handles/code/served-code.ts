/**
 * Answers what language servers know, for the code handle: references, diagnostics and renames.
 *
 * INVARIANTS: of what a server names only places in files are told that the call may read. A server says where a name
 * is changed, never into what: each of its edits puts the new name in place of the old one.
 */
import { blake3Hex } from "../../../base/hash.ts";
import { sharedTurns } from "../../../base/long-steps.ts";
import type { WorkspacePath } from "../../../model/place/access.ts";
import type {
  CodeDiagnostic,
  FileDiagnostics,
  ProposedRename,
  ReferencesQuery,
  RenamedFile,
  RenameQuery,
  ServedPlace,
  ServedReferences,
  Unserved,
} from "../../../model/place/code.ts";
import { resolveWorkspacePath } from "../../../model/place/workspace.ts";
import { cancelled } from "../../../sandbox/files/places/failures.ts";
import {
  readEdits,
  readLocations,
  readReport,
  readTypeScript,
  type ServerDiagnostic,
  type ServerFileEdits,
  type ServerLocation,
} from "../../../sandbox/language/answers.ts";
import { pathOfUri, uriOf } from "../../../sandbox/language/documents.ts";
import type { WarmServer } from "../../../sandbox/language/language-servers.ts";
import { ServerFailure, ServerRefusal } from "../../../sandbox/language/server-process.ts";
import { INSIDE_WORKSPACE } from "../../../sandbox/sandbox.ts";
import type { HandleParts } from "../handle-parts.ts";
import { askServer, changedSince, rawText, unserved } from "./ask-server.ts";
import { ServerFile } from "./server-files.ts";
import type { ShownFile } from "./usages.ts";

/** Changed files that a server is told of before a question. */
const CHANGED_MAX = 48;
/** Milliseconds after which no further file is looked at. */
const DIAGNOSTICS_MS_MAX = 120_000;
/** Characters of what a server says that are passed on. */
const MESSAGE_CHARACTERS_MAX = 1000;

/** What the call may be told of files. */
export interface ServedScope {
  readonly handle: HandleParts;
  readonly mayTell: (place: WorkspacePath) => boolean;
  readonly read: (file: string) => Promise<ShownFile | { readonly kind: "none" }>;
}

/** Files as the call sees them, each read once for an answer. */
class Files {
  readonly #scope: ServedScope;
  readonly #turn = sharedTurns();
  readonly #known = new Map<string, ServerFile | undefined>();
  constructor(scope: ServedScope) {
    this.#scope = scope;
  }

  async of(path: string): Promise<ServerFile | undefined> {
    if (this.#known.has(path)) return this.#known.get(path);
    const read = await this.#scope.read(path);
    const file = read.kind === "none" ? undefined : ServerFile.of(path, read);
    this.#known.set(path, file);
    return file;
  }

  /** Lets others have their turn: a server may name places without end, each of which costs a look at its file. */
  async turn(): Promise<void> {
    if ((await this.#turn()) && this.#scope.handle.signal.aborted) throw cancelled();
  }

  /** The file that a server names; nothing where the call may not read it. */
  async named(uri: string): Promise<ServerFile | undefined> {
    await this.turn();
    const path = pathOfUri(uri);
    const { handle, mayTell } = this.#scope;
    const place = path === undefined ? undefined : resolveWorkspacePath(handle.running.caller.place.workspace, path);
    if (place?.ok !== true || place.value.root !== "service" || !mayTell(place.value)) return undefined;
    return await this.of(place.value.path);
  }
}

/** What a server knows of the names at places. */
export async function servedReferences(
  scope: ServedScope,
  { symbol, places, holding, areDefinitions = false }: ReferencesQuery,
): Promise<ServedReferences | Unserved> {
  const [first] = places;
  if (first === undefined) return unserved("failed", "no place is named");
  return await askServer(scope.handle, first.path, async (server): Promise<ServedReferences | Unserved> => {
    const files = new Files(scope);
    await tellChanges(scope.handle, server, holding);
    const answers: ServedReferences["answers"][number][] = [];
    let hidden = 0;
    const told = async (locations: readonly ServerLocation[]) => {
      const shown: ServedPlace[] = [];
      for (const { uri, range } of locations) {
        const file = await files.named(uri);
        const place = file?.placeOf(range);
        if (file === undefined) hidden += 1;
        else if (place !== undefined) shown.push(place);
      }
      return shown;
    };
    for (const place of places) {
      const file = await files.of(place.path);
      const position = file?.positionOf(place);
      if (file === undefined || position === undefined || !standsAt(file, position, symbol))
        return unserved(
          "secret",
          `what stands at \`${place.path}\`:${place.line} cannot be shown to a server`,
          server.kind.name,
        );
      await server.documents.show(place.path, file.text);
      const at = { textDocument: { uri: uriOf(place.path) }, position };
      const references = await locationsOf(server, "textDocument/references", {
        ...at,
        context: { includeDeclaration: true },
      });
      const definitions = areDefinitions ? [] : await locationsOf(server, "textDocument/definition", at);
      answers.push({ references: await told(references), definitions: await told(definitions) });
    }
    return { kind: "served", server: server.kind.name, answers, hidden };
  });
}

function standsAt(file: ServerFile, position: { line: number; character: number }, symbol: string): boolean {
  const offset = file.offsetOf(position);
  return offset !== undefined && file.text.startsWith(symbol, offset);
}

/** The locations of an answer; none where the server says that it knows nothing of the place. */
async function locationsOf(server: WarmServer, method: string, params: object): Promise<readonly ServerLocation[]> {
  try {
    const locations = readLocations(await server.request(method, params));
    if (locations === undefined) throw new ServerFailure("failed", `its answer to \`${method}\` is none`);
    return locations;
  } catch (error) {
    if (error instanceof ServerRefusal) throw new ServerFailure("failed", `\`${method}\`: ${shortened(error.message)}`);
    throw error;
  }
}

async function tellChanges(handle: HandleParts, server: WarmServer, files: readonly string[]): Promise<void> {
  for (const path of changedSince(handle, server, files).slice(0, CHANGED_MAX)) {
    const text = Object.hasOwn(server.kind.languages, path.slice(path.lastIndexOf(".")))
      ? rawText(handle, path)
      : undefined;
    if (text !== undefined) await server.documents.show(path, text);
  }
}

/** What servers say is wrong in files. */
export async function servedDiagnostics(scope: ServedScope, paths: readonly string[]): Promise<FileDiagnostics> {
  const files = new Files(scope);
  const diagnostics: CodeDiagnostic[] = [];
  const looked: { readonly path: string; readonly server: string }[] = [];
  const left: ({ readonly path: string } & Unserved)[] = [];
  const endsAtMs = performance.now() + DIAGNOSTICS_MS_MAX;
  for (const path of paths) {
    if (performance.now() > endsAtMs) {
      left.push({ path, ...unserved("timed_out", "there was no time left for it: ask about fewer files") });
      continue;
    }
    const file = await files.of(path);
    if (file === undefined) {
      left.push({ path, ...unserved("failed", "it is not there, is no text, is too large, or may not be read") });
      continue;
    }
    const found = await askServer(scope.handle, path, async (server) => {
      await server.documents.show(path, file.text);
      return { kind: "found" as const, server: server.kind.name, items: await reportOf(server, path) };
    });
    if (found.kind === "none") left.push({ path, ...found });
    else {
      looked.push({ path, server: found.server });
      for (const item of found.items) {
        await files.turn();
        const place = file.placeOf(item.range);
        if (place !== undefined) diagnostics.push(diagnosticAt(place, item));
      }
    }
  }
  return { diagnostics, looked, unserved: left };
}

async function reportOf(server: WarmServer, path: string): Promise<readonly ServerDiagnostic[]> {
  if (server.kind.isTypeScript !== true || server.pullsDiagnostics) {
    try {
      const asked = { textDocument: { uri: uriOf(path) } };
      const report = readReport(await server.request("textDocument/diagnostic", asked));
      if (report === undefined) throw new ServerFailure("failed", "its report of a file is none");
      return report;
    } catch (error) {
      // some register later that they can be asked; those that cannot refuse, and say by themselves what is wrong
      if (!(error instanceof ServerRefusal) || server.pullsDiagnostics) throw error;
      return await server.published(path);
    }
  }
  const items: ServerDiagnostic[] = [];
  for (const command of ["syntacticDiagnosticsSync", "semanticDiagnosticsSync"]) {
    const file = `${INSIDE_WORKSPACE}/${path}`;
    const params = { command: "typescript.tsserverRequest", arguments: [command, { file }] };
    const answer = readTypeScript(await server.request("workspace/executeCommand", params));
    if (answer === undefined) throw new ServerFailure("failed", `its answer to \`${command}\` is none`);
    items.push(...answer);
  }
  return items;
}

const SEVERITIES = ["error", "warning", "information", "hint"] as const;

function diagnosticAt(
  { path, line, column }: ServedPlace,
  { severity = 1, code, message }: ServerDiagnostic,
): CodeDiagnostic {
  return {
    path,
    line,
    column,
    severity: SEVERITIES[severity - 1] ?? "error",
    ...(code !== undefined && { code: String(code) }),
    message: shortened(message),
  };
}

/** Where a server would rename. */
export async function proposedRename(scope: ServedScope, query: RenameQuery): Promise<ProposedRename> {
  const [place] = query.places;
  if (place === undefined) return unserved("failed", "no place is named");
  const files = new Files(scope);
  return await askServer(scope.handle, place.path, async (server): Promise<ProposedRename> => {
    await tellChanges(scope.handle, server, query.holding);
    const file = await files.of(place.path);
    const position = file?.positionOf(place);
    if (file === undefined || position === undefined || !standsAt(file, position, query.symbol))
      return unserved("secret", "the place cannot be shown to a server", server.kind.name);
    await server.documents.show(place.path, file.text);
    try {
      const answer = await server.request("textDocument/rename", {
        textDocument: { uri: uriOf(place.path) },
        position,
        newName: query.newName,
      });
      const edits = readEdits(answer);
      if (edits === undefined) return refused("the server proposes more than replacements, or nothing");
      return await checked(scope, { files, edits, query, server });
    } catch (error) {
      if (error instanceof ServerRefusal) return refused(shortened(error.message));
      throw error;
    }
  });
}

interface Proposal {
  readonly files: Files;
  readonly edits: readonly ServerFileEdits[];
  readonly query: RenameQuery;
  readonly server: WarmServer;
}

/** Every file must be one that analysis named as written, and every edit put one name in place of the other. */
async function checked({ handle }: ServedScope, { files, edits, query, server }: Proposal): Promise<ProposedRename> {
  const { symbol, newName } = query;
  const written = new Set(
    handle.running.accesses.flatMap(({ effect, target }) =>
      effect === "write" && target?.place.root === "service" ? [target.place.path] : [],
    ),
  );
  const forms = new Set([
    newName,
    ...[": ", " as "].flatMap((between) => [`${symbol}${between}${newName}`, `${newName}${between}${symbol}`]),
  ]);
  const renamed = new Map<string, RenamedFile>();
  const beyond: string[] = [];
  let hidden = 0;
  for (const { uri, edits: all } of edits) {
    const file = all.length === 0 ? undefined : await files.named(uri);
    if (all.length === 0) continue;
    if (file === undefined) hidden += 1;
    else if (!written.has(file.path)) beyond.push(file.path);
    else {
      const changes: { readonly place: ReturnType<ServerFile["bytesOf"]>; readonly content: string }[] = [];
      for (const { range, newText } of all) {
        await files.turn();
        changes.push({ place: file.bytesOf(range), content: newText });
      }
      const isPlain = changes.every(
        ({ place, content }) =>
          place !== undefined && forms.has(content) && file.bytes.toString("utf8", place.start, place.end) === symbol,
      );
      if (!isPlain)
        return refused(`the server would do more in \`${file.path}\` than put one name in place of the other`);
      const sorted = changes.flatMap(({ place, content }) => (place === undefined ? [] : [{ ...place, content }]));
      const before = renamed.get(file.path)?.changes ?? [];
      renamed.set(file.path, {
        path: file.path,
        digest: blake3Hex(file.bytes),
        changes: [...before, ...sorted].toSorted((one, two) => one.start - two.start),
      });
    }
  }
  if (beyond.length > 0 || hidden > 0) return { kind: "beyond", files: [...new Set(beyond)].toSorted(), hidden };
  if (renamed.size === 0) return refused("the server finds nothing to rename there");
  return { kind: "proposed", server: server.kind.name, files: [...renamed.values()] };
}

function refused(message: string): ProposedRename {
  return { kind: "refused", message };
}

function shortened(message: string): string {
  return message.slice(0, MESSAGE_CHARACTERS_MAX).toWellFormed();
}
