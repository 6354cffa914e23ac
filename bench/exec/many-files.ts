/**
 * How long the kernel's one thread is taken at a stretch while a command begins and ends in a workspace of 100,000
 * files, in processor time of that thread, beside reading the names of the same files at once.
 */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createKernel } from "../../src/server/doors/library.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { longestTurnMs } from "./longest-turn.ts";

const FILES = 100_000;
const FILES_PER_DIRECTORY = 50;
const DIRECTORIES_PER_DIRECTORY = 100;

/** The figure. */
export async function measureManyFiles(playground: Playground, effort: Effort): Promise<Row> {
  const count = effort.rounds === 1 ? FILES / 100 : FILES;
  const path = playground.directory("many");
  for (let index = 0; index < count; index += 1) {
    const directory = Math.floor(index / FILES_PER_DIRECTORY);
    const place = join(path, `part${Math.floor(directory / DIRECTORIES_PER_DIRECTORY)}`, `part${directory}`);
    if (index % FILES_PER_DIRECTORY === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file${index}.ts`), "");
  }
  const kernel = await createKernel({
    stateDirectory: playground.directory("state-many"),
    environment: playground.environment,
  });
  try {
    const session = await kernel.openSession({ workspace: path, preset: "open" });
    const command = async (): Promise<void> => {
      const { result } = await session.call("shell", { command: "true" });
      if (result.status !== "success") throw new Error(JSON.stringify(result));
    };
    await command();
    return await interleave(
      {
        id: "exec-longest-turn",
        what: `longest turn of the kernel's thread around a command among ${count} files`,
        peer: "reading the names of all files in one turn",
        unit: "ms",
        better: "lower",
      },
      effort.rounds,
      () => longestTurnMs(command),
      () => longestTurnMs(async () => void readdirSync(path, { recursive: true, withFileTypes: true })),
    );
  } finally {
    await kernel.close();
  }
}
