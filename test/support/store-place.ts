/** Temporary state directories for tests, removed afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A fresh directory that only the owner can enter; removed when the test ends. */
export async function freshDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "handrail-stores-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return directory;
}
