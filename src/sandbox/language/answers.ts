/** Reads what language servers answer: the few members that are used, bounded; everything else is no answer. */
import * as z from "zod";
import { hasMoreJsonValues } from "../../base/json.ts";

/** Locations and edits of one answer that are looked at. */
const LOCATIONS_MAX = 20_000;
const TEXT_CHARACTERS_MAX = 4000;
/** Values in one answer, members and elements among them: what is found wrong with each costs memory. */
const VALUES_MAX = 500_000;

const count = z.int().min(0).max(2_000_000_000);
const position = z.object({ line: count, character: count });
const range = z.object({ start: position, end: position });
const location = z.object({ uri: z.string().max(20_000), range });
const link = z.object({ targetUri: z.string().max(20_000), targetSelectionRange: range });

/** A place in a file as the protocol counts: from 0, in units of UTF-16. */
export type ServerPosition = z.infer<typeof position>;
/** From a place to a place. */
export type ServerRange = z.infer<typeof range>;
/** A range in a file. */
export type ServerLocation = z.infer<typeof location>;

const locations = z.union([
  z.null().transform((): ServerLocation[] => []),
  location.transform((one) => [one]),
  z.array(location).max(LOCATIONS_MAX),
  z
    .array(link.transform(({ targetUri, targetSelectionRange }) => ({ uri: targetUri, range: targetSelectionRange })))
    .max(LOCATIONS_MAX),
]);

/** What an answer is as `schema` says; `undefined` where it is something else, or holds more than anyone asked for. */
function parsed<Read>(schema: z.ZodType<Read>, answer: unknown): Read | undefined {
  return hasMoreJsonValues(answer, VALUES_MAX) ? undefined : schema.safeParse(answer).data;
}

/** The locations of an answer; `undefined` where it is none. */
export function readLocations(answer: unknown): readonly ServerLocation[] | undefined {
  return parsed(locations, answer ?? null);
}

const edit = z.object({ range, newText: z.string().max(TEXT_CHARACTERS_MAX) });
/** One replacement. */
export type ServerEdit = z.infer<typeof edit>;

const documentEdits = z.object({
  textDocument: z.object({ uri: z.string().max(20_000) }),
  edits: z.array(edit).max(LOCATIONS_MAX),
});
const workspaceEdit = z.union([
  // Files that a server would make, move or remove are none of a rename's.
  z
    .object({ documentChanges: z.array(documentEdits).max(LOCATIONS_MAX) })
    .transform(({ documentChanges }) => documentChanges.map(({ textDocument: { uri }, edits }) => ({ uri, edits }))),
  z
    .object({ changes: z.record(z.string().max(20_000), z.array(edit).max(LOCATIONS_MAX)) })
    .transform(({ changes }) => Object.entries(changes).map(([uri, edits]) => ({ uri, edits }))),
]);
/** The replacements in one file. */
export interface ServerFileEdits {
  readonly uri: string;
  readonly edits: readonly ServerEdit[];
}

/** The replacements of a rename; `undefined` where the answer is none, or would do more than replace. */
export function readEdits(answer: unknown): readonly ServerFileEdits[] | undefined {
  return parsed(workspaceEdit, answer);
}

const diagnostic = z.object({
  range,
  severity: z.int().min(1).max(4).optional(),
  code: z.union([z.string().max(200), z.number()]).optional(),
  message: z.string().transform((text) => text.slice(0, TEXT_CHARACTERS_MAX)),
});
/** What a server says of a place. */
export type ServerDiagnostic = z.infer<typeof diagnostic>;

const report = z.object({ kind: z.literal("full"), items: z.array(diagnostic).max(LOCATIONS_MAX) });

/** The diagnostics of a report that was asked for. */
export function readReport(answer: unknown): readonly ServerDiagnostic[] | undefined {
  return parsed(report, answer)?.items;
}

const published = z.object({
  uri: z.string().max(20_000),
  version: z.int().optional(),
  diagnostics: z.array(z.unknown()),
});
/** Diagnostics of one file that are kept, of those that a server says unasked. */
const PUBLISHED_MAX = 500;

/** What a server says of a file unasked; the version is the client's, where it names one. */
export interface PublishedDiagnostics {
  readonly uri: string;
  readonly version?: number | undefined;
  readonly items: readonly ServerDiagnostic[];
}

/** The diagnostics that a server says unasked. */
export function readPublished(params: unknown): PublishedDiagnostics | undefined {
  const read = published.safeParse(params).data;
  if (read === undefined) return undefined;
  const items = z.array(diagnostic).safeParse(read.diagnostics.slice(0, PUBLISHED_MAX)).data;
  return items && { uri: read.uri, version: read.version, items };
}

const tsPosition = z.object({ line: z.int().min(1), offset: z.int().min(1) });
const tsDiagnostics = z.object({
  body: z
    .array(
      z.object({
        start: tsPosition,
        end: tsPosition,
        text: z.string().transform((text) => text.slice(0, TEXT_CHARACTERS_MAX)),
        code: z.number().optional(),
        category: z.string().max(40),
      }),
    )
    .max(LOCATIONS_MAX),
});
const SEVERITIES: Readonly<Record<string, number>> = { error: 1, warning: 2 };

/** The diagnostics as TypeScript's own server says them. */
export function readTypeScript(answer: unknown): readonly ServerDiagnostic[] | undefined {
  const read = parsed(tsDiagnostics, answer);
  return read?.body.map(({ start, end, text, code, category }) => ({
    range: { start: fromOne(start), end: fromOne(end) },
    severity: SEVERITIES[category] ?? 3,
    ...(code !== undefined && { code }),
    message: text,
  }));
}

function fromOne({ line, offset }: z.infer<typeof tsPosition>): ServerPosition {
  return { line: line - 1, character: offset - 1 };
}

const initialized = z.object({ capabilities: z.object({ diagnosticProvider: z.unknown().optional() }) });

/** What a server says when it begins. */
export function readInitialized(answer: unknown): { readonly pullsDiagnostics: boolean } | undefined {
  const read = parsed(initialized, answer);
  return read && { pullsDiagnostics: read.capabilities.diagnosticProvider !== undefined };
}
