/** A pipe lies where the state directory should hold a file: whoever opens that waits for nobody. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { freshDirectory } from "../../support/store-place.ts";

const HASH = "ab".repeat(32);
/** Many times what it takes on a busy machine. */
const STANDS_MS = 20_000;

const moduleAt = (path: string) => JSON.stringify(join(import.meta.dirname, "../../../src/stores/embedded", path));

/** What a program of its own says, which may stand; `undefined` where it does. */
function said(program: string, timeout: number): string | undefined {
  const { stdout, signal } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", program], {
    encoding: "utf8",
    timeout,
    killSignal: "SIGKILL",
  });
  return signal === null ? stdout.trim() : undefined;
}

function pipeAt(path: string): string {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  execFileSync("mkfifo", ["-m", "600", path]);
  return path;
}

test("stored content", async () => {
  const state = await freshDirectory();
  chmodSync(state, 0o700);
  const path = pipeAt(join(state, "cas/ab/ab", HASH));
  const program = `import { ContentFiles } from ${moduleAt("content/content-files.ts")};
    console.log(new ContentFiles(${JSON.stringify(state)}).open("${HASH}") ?? "nothing");`;
  expect(said(program, STANDS_MS)).toBe("nothing");
  // The control: a plain opening stands.
  expect(said(`(await import("node:fs")).openSync(${JSON.stringify(path)})`, 1000)).toBeUndefined();
});

test("an answer to a request for approval", async () => {
  const state = await freshDirectory();
  pipeAt(join(state, "approvals", `${HASH}.approved.json`));
  const program = `import { openDecisionFiles } from ${moduleAt("approvals/decision-files.ts")};
    console.log((await openDecisionFiles(${JSON.stringify(state)}, () => undefined).look("${HASH}")).kind);`;
  expect(said(program, STANDS_MS)).toBe("unusable");
});
