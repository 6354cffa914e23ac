/** A process that exchanges a directory and a file of a place for links that lead out, as fast as it can. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import type { Place } from "./files-fixture.ts";

const SWAPPER = fileURLToPath(new URL("./children/swap.ts", import.meta.url));

/** Lays out what is exchanged, inside and outside, and starts; resolves once it is at work. */
export async function startSwapper(place: Place, inside: string, outside: string): Promise<ChildProcess> {
  for (const [directory, content] of [
    [place.outside, outside],
    [place.root, inside],
  ] as const) {
    mkdirSync(join(directory, "dir"));
    writeFileSync(join(directory, "dir", "data.txt"), content);
    writeFileSync(join(directory, "file"), content);
  }
  symlinkSync("../outside/dir", join(place.root, "dir.link"));
  symlinkSync(join(place.outside, "file"), join(place.root, "file.link"));
  const swapper = spawn(process.execPath, [SWAPPER, place.root], { stdio: ["ignore", "pipe", "inherit"] });
  if (swapper.stdout) await once(swapper.stdout, "data");
  return swapper;
}

/** Ends it; it must have run until now. */
export async function endSwapper(swapper: ChildProcess): Promise<void> {
  const ended = once(swapper, "exit");
  expect(swapper.kill("SIGKILL")).toBe(true);
  await ended;
}
