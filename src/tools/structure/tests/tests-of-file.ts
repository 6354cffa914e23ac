/** Collects what is known of a file's tests: names, imports and history of the workspace. */
import type { JsonObject } from "../../../base/json.ts";
import { ToolFailure } from "../../../model/outcome/failure.ts";
import type { ChangedTogether } from "../../../model/place/code.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import { ImportResolver } from "../imports/import-resolver.ts";
import { sourceKindOf } from "../imports/source-kinds.ts";
import { importsOf } from "../imports/workspace-imports.ts";
import { TokenBudget } from "../kit/token-budget.ts";
import { MANIFEST_BYTES_MAX, type Manifest, manifestKind, packageFacts, readManifest } from "../map/manifests.ts";
import { relatedTests } from "./related.ts";
import { isTest, stemOf } from "./test-names.ts";

/** Files of the workspace that are looked at. */
const FILES_MAX = 50_000;
/** Manifests that are read. */
const MANIFESTS_MAX = 500;
/** Bytes of the file itself that are looked at. */
const FILE_BYTES_MAX = 1024 * 1024;

/** Which tests are wanted. */
export interface TestsWanted {
  readonly file: string;
  readonly root: string;
  readonly tokens: number;
}

/** The tests of a file, as data. */
export async function testsOfFile({ code }: ToolContext, { file, root, tokens }: TestsWanted): Promise<JsonObject> {
  const path = await sourcePath(code, file);
  const own = await code.text(file, path, FILE_BYTES_MAX);
  const listing = await code.list(root, FILES_MAX);
  const files = listing.files.map((each) => each.path);
  if (!files.includes(path)) files.push(path);
  const manifests = await manifestsOf(code, root, files);
  const mentions = new Set<string>();
  const subject = ["Go", "Java", "Kotlin"].includes(sourceKindOf(path)?.language ?? "") ? namesIn(path, own) : [];
  const imports = await importsOf(
    code,
    {
      path: root,
      files,
      see(each, source) {
        if (isTest(each) && subject.some((name) => hasWord(source, name))) mentions.add(each);
      },
    },
    new ImportResolver(files, packageFacts(manifests)),
  );
  const history: ChangedTogether = await code.changedTogether(root, file);
  const isInline = own.kind === "text" && INLINE.test(own.text);
  const found = relatedTests(path, { files, imports: imports.edges, history, mentions, isInline });
  const { shown, leftOut } = new TokenBudget(tokens).fit(
    found.map(({ path: test, reasons }) => ({ path: test, reasons: reasons.map((reason) => ({ ...reason })) })),
  );
  return {
    file_path: path,
    tests: [...shown],
    history: history.kind === "counted" ? "read" : history.why,
    left_out: { tests: leftOut, sources: imports.unread },
    truncated: leftOut > 0 || listing.truncated,
  };
}

/** Tests in the file that they test. */
const INLINE = /^[ \t]{0,40}#\[cfg\(test\)\]|\bimport\.meta\.vitest\b/m;

/** The file as other calls name it. */
async function sourcePath(code: ToolContext["code"], file: string): Promise<string> {
  const { files } = await code.list(file, 2);
  const wanted = file.replace(/^(?:\.\/)+/, "");
  const [only] = files.filter(({ path }) => path === wanted || wanted.endsWith(`/${path}`));
  if (files.length === 1 && only) return only.path;
  throw new ToolFailure(
    "NOT_A_FILE",
    `\`${file}\` is no file whose tests can be looked for`,
    "name one source file; `get_system_map` says which parts there are",
  );
}

async function manifestsOf(code: ToolContext["code"], root: string, files: readonly string[]) {
  const manifests = new Map<string, Manifest>();
  for (const path of files.filter((each) => manifestKind(each) !== undefined).slice(0, MANIFESTS_MAX)) {
    const read = await code.text(root, path, MANIFEST_BYTES_MAX);
    const manifest = read.kind === "text" ? await readManifest(path, read.text) : undefined;
    if (manifest) manifests.set(path, manifest);
  }
  return manifests;
}

/** Names of a file's own that others of its package use without an import. */
function namesIn(path: string, own: Awaited<ReturnType<ToolContext["code"]["text"]>>): readonly string[] {
  if (!path.endsWith(".go")) return [stemOf(path)];
  if (own.kind !== "text") return [];
  const declared = own.text.matchAll(/^(?:func[ \t]{1,4}(?:\([^)\n]{0,200}\)[ \t]{0,4})?|type[ \t]{1,4})(\w{2,100})/gm);
  return [...new Set([...declared].map(([, name]) => name ?? ""))].slice(0, NAMES_MAX);
}

/** Names of one file that are looked for in tests. */
const NAMES_MAX = 100;

function hasWord(source: string, name: string): boolean {
  for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + name.length)) {
    if (!/\w/.test(source[at - 1] ?? " ") && !/\w/.test(source[at + name.length] ?? " ")) return true;
  }
  return false;
}
