/** Reads another system's configuration, and writes what it becomes into the operator's directory. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { MIB } from "../../base/bytes.ts";
import { configInvalid, errorCode, usageError } from "../../base/errors.ts";
import { parseToolPolicy, parseToolSpec } from "../../config/files/tool-rules.ts";
import { compileInputSchema } from "../../kernel/index.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";
import { IMPORT_SOURCES, type Imported, type ImportedFile, type ImportSource, type LeftOut } from "./imported.ts";

/** Bytes of a file that is read, and files of a directory. */
const FILE_BYTES_MAX = MIB;
const FILES_MAX = 256;
/** serverd's policy of tools, beside the specs. */
const POLICY = "policy.json";

/** What the configuration at `path` becomes. @throws KernelError USAGE or CONFIG_INVALID saying what is wrong where */
export async function importConfiguration(source: string, path: string): Promise<Imported> {
  const known = IMPORT_SOURCES.find((each) => each === source);
  if (known === undefined)
    throw usageError(`there is no \`${source}\` to import; use one of ${IMPORT_SOURCES.join(", ")}`);
  return await IMPORTS[known](path);
}

const IMPORTS: Readonly<Record<ImportSource, (path: string) => Promise<Imported>>> = {
  async brio(path) {
    const { importBrio } = await import("./brio.ts");
    return importBrio(textOf(path), basename(path));
  },
  async flow(path) {
    const { importFlow } = await import("./flow.ts");
    return importFlow(textOf(isDirectory(path) ? join(path, "config.json") : path), "config.json");
  },
  serverd: importServerd,
};

/** serverd's files are read as they are: they are checked, and copied. */
async function importServerd(path: string): Promise<Imported> {
  const names = isDirectory(path)
    ? readdirSync(path)
        .filter((name) => name.endsWith(".json"))
        .sort()
    : [basename(path)];
  if (names.length > FILES_MAX) throw configInvalid(`\`${path}\` holds more than ${FILES_MAX} files`);
  const directory = isDirectory(path) ? path : dirname(path);
  const files: ImportedFile[] = [];
  const left: LeftOut[] = [];
  for (const name of names) {
    const text = textOf(join(directory, name));
    if (name === POLICY) {
      parseToolPolicy({ name, text });
      files.push({ path: POLICY, text });
    } else {
      await parseToolSpec({ name, text }, compileInputSchema);
      files.push({ path: `tools/${name}`, text });
    }
  }
  if (files.length === 0) left.push({ where: path, why: "holds no tool spec and no policy" });
  return { files, left };
}

/**
 * Writes the files into the operator's directory; all of them, or none where one is there already.
 * @throws KernelError CONFIG_INVALID naming the file
 */
export async function writeImported(operatorPath: string, { files }: Imported): Promise<void> {
  for (const { path } of files)
    if (statSync(join(operatorPath, path), { throwIfNoEntry: false }) !== undefined)
      throw configInvalid(`\`${path}\` is there already, and is never overwritten; put the two together by hand`);
  for (const { path, text } of files) {
    const target = join(operatorPath, path);
    await mkdir(dirname(target), { recursive: true, mode: 0o700 });
    await writeNewFile(target, text);
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function textOf(path: string): string {
  let bytes: number;
  try {
    bytes = statSync(path).size;
    if (bytes > FILE_BYTES_MAX) throw configInvalid(`\`${path}\` has more than ${FILE_BYTES_MAX} bytes`);
    return readFileSync(path, "utf8");
  } catch (cause) {
    if (errorCode(cause) === "ENOENT") throw usageError(`there is no \`${path}\`; name the file to import`, cause);
    throw cause;
  }
}
