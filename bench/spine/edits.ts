/**
 * Governed edits of 4 KB files over MCP on standard streams, against the reference server, which brings nothing to
 * disk, and against a bare loop that does: write, fsync, rename, fsync of the directory. Both sides of a figure work on
 * the same file system.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { McpClient } from "../mcp-client.ts";
import { interleave, type Row, type Side } from "../measure.ts";
import type { Effort } from "../options.ts";
import { type Playground, REPEATED_FILES } from "../playground.ts";
import { handrailMcp, REFERENCE, referenceMcp } from "../servers.ts";

const IN_FLIGHT = [1, 16, 64] as const;
const MARK = "// turn ";
const BARE = "bare loop (write, fsync, rename, fsync of the directory)";

/** Files whose first line says how often they were edited. */
interface Edited {
  readonly path: string;
  readonly files: readonly string[];
  readonly turns: number[];
}

/** The figures. */
export async function measureEdits(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const [own, foreign, bare] = (["edit-own", "edit-reference", "edit-bare"] as const).map((name) =>
    edited(playground, name),
  );
  if (own === undefined || foreign === undefined || bare === undefined) throw new Error("a workspace is missing");
  const ours = new McpClient(handrailMcp(playground, own.path, "state-edit"));
  const theirs = new McpClient(referenceMcp(playground, foreign.path));
  try {
    await ours.open();
    await theirs.open();
    const handrail = (inFlight: number) =>
      during(effort.turnMs, (goesOn) => edit(ours, own, inFlight, goesOn, ourEdit));
    const reference = (inFlight: number) =>
      during(effort.turnMs, (goesOn) =>
        edit(theirs, foreign, inFlight, goesOn, (file, turn) => theirEdit(`${foreign.path}/${file}`, turn)),
      );
    const loop = (inFlight: number) => during(effort.turnMs, (goesOn) => bareLoop(bare, inFlight, goesOn));
    for (const side of [handrail(16), reference(16), loop(16)]) await side(0);
    const rows: Row[] = [];
    for (const inFlight of IN_FLIGHT) {
      rows.push(
        await interleave(
          subject("reference", inFlight, REFERENCE),
          effort.rounds,
          handrail(inFlight),
          reference(inFlight),
        ),
      );
      rows.push(await interleave(subject("bare", inFlight, BARE), effort.rounds, handrail(inFlight), loop(inFlight)));
    }
    return rows;
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
}

function edited(playground: Playground, name: string): Edited {
  const { path, files } = playground.workspace(name, REPEATED_FILES);
  for (const file of files) writeFileSync(join(path, file), `${MARK}0;\n${readFileSync(join(path, file), "utf8")}`);
  return { path, files, turns: files.map(() => 0) };
}

function during(turnMs: number, work: (goesOn: () => boolean) => Promise<number>): Side {
  return () => {
    const end = performance.now() + turnMs;
    return work(() => performance.now() < end);
  };
}

type MakeEdit = (file: string, turn: number) => { readonly name: string; readonly arguments: object };

const ourEdit: MakeEdit = (file, turn) => ({
  name: "edit_file",
  arguments: { path: file, edits: [{ operation: "replace", spec: `${MARK}${turn};`, content: `${MARK}${turn + 1};` }] },
});

const theirEdit: MakeEdit = (path, turn) => ({
  name: "edit_file",
  arguments: { path, edits: [{ oldText: `${MARK}${turn};`, newText: `${MARK}${turn + 1};` }] },
});

/** Edits the files in turn: by the time that one comes again, its last edit was answered. */
function edit(
  client: McpClient,
  { files, turns }: Edited,
  inFlight: number,
  goesOn: () => boolean,
  make: MakeEdit,
): Promise<number> {
  const next = (index: number) => {
    if (!goesOn()) return undefined;
    const at = index % files.length;
    const turn = turns[at] ?? 0;
    turns[at] = turn + 1;
    return make(files[at] ?? "", turn);
  };
  return client.call(inFlight, next, (line) => {
    if (line.includes('"isError":true') || line.includes('"error":'))
      throw new Error(`an edit failed: ${line.toString().slice(0, 500)}`);
  });
}

async function bareLoop({ path, files }: Edited, inFlight: number, goesOn: () => boolean): Promise<number> {
  let done = 0;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (goesOn()) {
      const target = join(path, files[done++ % files.length] ?? "");
      const beside = `${target}.${done}`;
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
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return (done * 1000) / (performance.now() - started);
}

function subject(kind: "reference" | "bare", inFlight: number, peer: string) {
  const what = `edits of 4 KB files over MCP stdio, ${inFlight} in flight, ${REPEATED_FILES} files in turn`;
  return { id: `mcp-edit-${kind}-${inFlight}`, what, peer, unit: "edits/s", better: "higher" } as const;
}
