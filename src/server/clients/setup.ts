/**
 * Sets clients up: registers Handrail in their own files and switches off their own tools; and takes that back.
 *
 * INVARIANTS: what is written is what a dry run shows; a file that cannot be understood stays as it is, and then no
 * file is changed; what was there before is kept; doing it twice changes nothing.
 */
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { KernelError, usageError } from "../../base/errors.ts";
import { blake3Hex } from "../../base/hash.ts";
import type { JsonObject } from "../../base/json.ts";
import type { Client, ClientFile, ClientPlace } from "./client.ts";
import { ChangedMeanwhile, type ReadFile, readConfigFile, replaceConfigFile } from "./config-file.ts";
import { applied, type Undo, undone } from "./edits.ts";
import { type Changed, type Format, textWith, valueIn } from "./formats.ts";
import { CLIENTS } from "./known-clients.ts";
import { type ChangedFile, type Original, readRecord, type SetUp, withRecord, writeRecord } from "./record.ts";

/** Times that a file is read anew because its client has changed it meanwhile. */
const ATTEMPTS_MAX = 5;

/** One file before and after; no text where there is none. */
export interface FileChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
  /** What others have changed meanwhile, which therefore stays. */
  readonly kept: readonly string[];
  /** Where what it was is kept; none in a dry run, or where there was none. */
  readonly backup?: string;
}

/** What is done, and for whom. */
export interface SetupWish {
  readonly operatorPath: string;
  readonly client: Client;
  readonly place: ClientPlace;
  readonly isDry: boolean;
  readonly nowMs: number;
}

/** A file as it is, as it is to be, and what is to be remembered of it. */
interface Planned {
  readonly read: ReadFile;
  readonly after: string | undefined;
  readonly kept: readonly string[];
  readonly record: ChangedFile | undefined;
}

type Plan = (path: string) => Promise<Planned>;

/** The client of that name. @throws KernelError USAGE naming those that there are */
export function clientNamed(name: string): Client {
  const client = CLIENTS.find((each) => each.name === name);
  if (client !== undefined) return client;
  throw usageError(
    `there is no client \`${name}\` to set up; use one of ${CLIENTS.map((each) => each.name).join(", ")}`,
  );
}

/** Registers Handrail in the client's files, and switches its own tools off where it can. */
export function setUpClient(wish: SetupWish): Promise<readonly FileChange[]> {
  return alone(wish, () => setUp(wish));
}

async function setUp(wish: SetupWish): Promise<readonly FileChange[]> {
  const { client, place } = wish;
  const clients = await readRecord(wish.operatorPath);
  const earlier = clients.find((each) => isSame(each, client, place));
  const plans = client.files(place).map((file): readonly [string, Plan] => {
    const known = earlier?.files.find(({ path }) => path === file.path);
    return [file.path, (path) => planned(file, readConfigFile(path), known)];
  });
  return changed(wish, clients, plans);
}

/** Takes back what was changed for the client. @throws KernelError USAGE where nothing was */
export function unsetClient(wish: SetupWish): Promise<readonly FileChange[]> {
  return alone(wish, () => unset(wish));
}

/** A dry run writes nothing, and so waits for nobody. */
function alone<T>({ isDry, operatorPath }: SetupWish, work: () => Promise<T>): Promise<T> {
  return isDry ? work() : withRecord(operatorPath, work);
}

async function unset(wish: SetupWish): Promise<readonly FileChange[]> {
  const { client, place } = wish;
  const clients = await readRecord(wish.operatorPath);
  const earlier = clients.find((each) => isSame(each, client, place));
  if (earlier === undefined) {
    const where = client.scope === "user" ? "" : ` in \`${place.workspace}\``;
    throw usageError(`${client.title} was not set up${where}; \`handrail setup\` shows what was`);
  }
  const plans = earlier.files.map((file): readonly [string, Plan] => [
    file.path,
    (path) => takenBack(file, readConfigFile(path), formatOf(file)),
  ]);
  return changed(wish, clients, plans);
}

/** Whether a record is of this client, there. One whose files are the user's is set up once. */
function isSame(record: SetUp, client: Client, place: ClientPlace): boolean {
  return record.client === client.name && (client.scope === "user" || record.workspace === place.workspace);
}

/** Looks at all files before it changes one, and remembers each change as soon as it is made. */
async function changed(
  wish: SetupWish,
  clients: readonly SetUp[],
  plans: readonly (readonly [string, Plan])[],
): Promise<readonly FileChange[]> {
  const { client, place, operatorPath } = wish;
  for (const [path, plan] of plans) await named(path, "nothing was changed", () => plan(path));
  const others = clients.filter((each) => !isSame(each, client, place));
  const remembered = new Map(
    clients.find((each) => isSame(each, client, place))?.files.map((file) => [file.path, file]),
  );
  const changes: FileChange[] = [];
  for (const [index, [path, plan]] of plans.entries()) {
    const backup = join(operatorPath, "client-backups", `${wish.nowMs}-${client.name}-${index}`);
    const how = { backup, isDry: wish.isDry };
    const rest = `\`handrail unsetup ${client.name}\` takes back what was changed`;
    const { read, after, kept, record, copy } = await named(path, rest, () => made(path, plan, how));
    changes.push({ path: read.path, before: read.text, after, kept, ...(copy !== undefined && { backup: copy }) });
    if (record === undefined) remembered.delete(path);
    else remembered.set(path, { ...record, ...originalOf({ read, after, copy }, remembered.get(path)?.original) });
    if (wish.isDry) continue;
    const { workspace, launch, options, joining } = place;
    const own = { client: client.name, workspace, launch, options, joining, files: [...remembered.values()] };
    await writeRecord(operatorPath, own.files.length === 0 ? others : [...others, own]);
  }
  return changes;
}

/** Plans and writes one file, anew where its client has changed it meanwhile. */
async function made(
  path: string,
  plan: Plan,
  { backup, isDry }: { readonly backup: string; readonly isDry: boolean },
): Promise<Planned & { readonly copy?: string }> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await plan(path);
    if (isDry || found.after === found.read.text) return found;
    const copy = attempt === 1 ? backup : `${backup}-${attempt}`;
    try {
      await replaceConfigFile(found.read, found.after, copy);
      return found.read.text === undefined ? found : { ...found, copy };
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      if (attempt === ATTEMPTS_MAX)
        throw usageError(`another program keeps changing \`${path}\`; end the client, and try again`);
    }
  }
}

/** What a file was before the first change, as long as nobody else has changed it since. */
function originalOf(
  {
    read,
    after,
    copy,
  }: { readonly read: ReadFile; readonly after: string | undefined; readonly copy?: string | undefined },
  known: Original | undefined,
): { readonly original?: Original } {
  if (after === undefined || read.text === undefined) return {};
  const before = blake3Hex(read.text);
  if (known?.after === before) return { original: { ...known, after: blake3Hex(after) } };
  return copy === undefined || known !== undefined
    ? {}
    : { original: { backup: copy, before, after: blake3Hex(after) } };
}

/** The bytes of before, where only what was set up has been changed since: comments and layout come back, too. */
async function originalText(
  file: ChangedFile,
  text: string,
  wanted: { readonly root: JsonObject; readonly format: Format },
) {
  const { original } = file;
  if (original === undefined || blake3Hex(text) !== original.after) return undefined;
  const before = readConfigFile(original.backup).text;
  if (before === undefined || blake3Hex(before) !== original.before) return undefined;
  return isDeepStrictEqual(await valueIn(before, wanted.format), wanted.root) ? before : undefined;
}

/** What a file is to hold. */
async function planned(file: ClientFile, read: ReadFile, known: ChangedFile | undefined): Promise<Planned> {
  const isNew = known?.isNew ?? read.text === undefined;
  if (file.format === "text") {
    const isOwn = read.text === undefined || read.text === file.text || read.text === known?.text;
    if (!isOwn) throw usageError("it is there already, with another text; move it away, and try again");
    return { read, after: file.text, kept: [], record: { path: file.path, isNew, undo: [], text: file.text } };
  }
  let text = read.text ?? "";
  let root = await valueIn(text, file.format);
  const undo = [...(known?.undo ?? [])];
  for (const edit of file.edits) {
    const change = applied(root, edit);
    if (change === undefined) continue;
    text = await textWith(text, file.format, { root: change.root, at: edit.at });
    root = change.root;
    remember(undo, change.undo);
  }
  return { read, after: text === "" ? read.text : text, kept: [], record: { path: file.path, isNew, undo } };
}

/** What is taken back is what stood there before the first change. */
function remember(undo: Undo[], next: Undo): void {
  const index = undo.findIndex(({ at }) => at.join("\0") === next.at.join("\0"));
  const first = undo[index];
  if (first === undefined) undo.push(next);
  else if ("value" in first && "value" in next) undo[index] = { ...first, value: next.value };
  else if ("members" in first && "members" in next)
    undo[index] = { ...first, members: [...new Set([...first.members, ...next.members])] };
}

/** What a file held before. */
async function takenBack(file: ChangedFile, read: ReadFile, format: Format | "text"): Promise<Planned> {
  const { text: before } = read;
  if (before === undefined) return { read, after: undefined, kept: [], record: undefined };
  if (format === "text") {
    const isOurs = before === file.text && file.isNew;
    return { read, after: isOurs ? undefined : before, kept: isOurs ? [] : ["the whole file"], record: undefined };
  }
  let root: JsonObject = await valueIn(before, format);
  const kept: string[] = [];
  const steps: Changed[] = [];
  for (const undo of [...file.undo].reverse()) {
    const next = undone(root, undo);
    if (next === undefined) kept.push(undo.at.join("."));
    else steps.push({ root: next, at: undo.at });
    root = next ?? root;
  }
  let text = await originalText(file, before, { root, format });
  if (text === undefined) {
    text = before;
    for (const step of steps) text = await textWith(text, format, step);
  }
  const isEmpty = file.isNew && Object.keys(root).length === 0;
  return { read, after: isEmpty ? undefined : text, kept, record: undefined };
}

/** The format of a file that was changed earlier, which a later version may not know any more. */
function formatOf({ path, text }: ChangedFile): Format | "text" {
  if (text !== undefined) return "text";
  return path.endsWith(".toml") ? "toml" : "jsonc";
}

/** What goes wrong with a file names it, and says how it stands with the others. */
async function named<T>(path: string, rest: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    const where = error.message.includes(path) ? "" : `\`${path}\`: `;
    throw usageError(`${where}${error.message}; ${rest}`, error);
  }
}
