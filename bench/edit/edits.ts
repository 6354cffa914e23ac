/**
 * Edits of large files and of several at once: `edit_file` through the whole kernel, warm, against reading each file
 * and writing it anew so that it survives (a file beside it, fsync, rename, fsync of the directory).
 */
import { readFileSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../src/server/doors/library.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const LARGE_BYTES = 2 ** 20;
const SEVERAL = 10;
const EDITS_PER_TURN = 10;
const PEER = "reading, and writing atomically";
const LINE = "const value = compute(alpha, beta); // a line of a program\n";

/** The figures. */
export async function measureFileEdits(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const { path, files } = playground.workspace("edit-files", SEVERAL);
  writeFileSync(join(path, "large.ts"), `mark(0);\n${LINE.repeat(LARGE_BYTES / LINE.length)}`);
  writeFileSync(join(path, "peer.ts"), `mark(0);\n${LINE.repeat(LARGE_BYTES / LINE.length)}`);
  for (const file of files) writeFileSync(join(path, file), `mark(0);\n${readFileSync(join(path, file), "utf8")}`);
  const stateDirectory = playground.directory("state-edit-files");
  const kernel = await createKernel({ stateDirectory, environment: playground.environment });
  try {
    const session = await kernel.openSession({ workspace: path });
    const turns = { large: 0, several: 0 };
    const large = (mode: "exact" | "regex" | "ast") => () =>
      timed(() => call(session, { path: "large.ts", edits: [marked(mode, turns.large++)] }));
    const several = () =>
      timed(() => {
        const edits = [marked("exact", turns.several++)];
        return call(session, { files: files.map((file) => ({ path: file, edits })) });
      });
    const peer = (names: readonly string[]) => () =>
      timed(async () => {
        for (const name of names) await rewrite(join(path, name));
      });
    const rows: Row[] = [];
    for (const mode of ["exact", "regex", "ast"] as const)
      rows.push(
        await interleave(
          subject(`large-${mode}`, `an edit of a 1 MB file, matched as \`${mode}\``),
          effort.rounds,
          large(mode),
          peer(["peer.ts"]),
        ),
      );
    const what = `an edit of ${SEVERAL} files of 4 KB in one call`;
    rows.push(await interleave(subject("several", what), effort.rounds, several, peer(files)));
    return rows;
  } finally {
    await kernel.close();
  }
}

function subject(id: string, what: string) {
  return { id: `edit-${id}`, what, peer: PEER, unit: "ms", better: "lower" } as const;
}

function marked(mode: "exact" | "regex" | "ast", turn: number): JsonObject {
  const spec = { exact: `mark(${turn});`, regex: "^mark\\((\\d+)\\);$", ast: "mark($TURN);" }[mode];
  return { operation: "replace", match_mode: mode, spec, content: `mark(${turn + 1});` };
}

/** Milliseconds of one, as the mean of several. */
async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  for (let count = 0; count < EDITS_PER_TURN; count += 1) await work();
  return (performance.now() - started) / EDITS_PER_TURN;
}

async function call(session: KernelSession, args: JsonObject): Promise<void> {
  const { response } = await session.call("edit_file", args);
  if (response.outcome.kind !== "success") throw new Error(`an edit failed: ${JSON.stringify(response.outcome)}`);
}

async function rewrite(target: string): Promise<void> {
  const beside = `${target}.new`;
  const content = readFileSync(target);
  const file = await open(beside, "wx");
  await file.write(content);
  await file.sync();
  await file.close();
  await rename(beside, target);
  const directory = await open(dirname(target), "r");
  await directory.sync();
  await directory.close();
}
