/** Lines read through the kernel: a secret of many lines is hidden, and every line keeps its own number. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { memoryKernel } from "../../support/memory-kernel.ts";

/** Made anew in each run, so that this file holds no secret. */
const PEM = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" });
const KEY_LINES = PEM.toString().trimEnd().split("\n");
const BEFORE = 3;
const LINES = ["one", "two", "three", ...KEY_LINES, "after", "last"];

async function opened() {
  const kernel = await memoryKernel({});
  writeFileSync(join(kernel.root, "file.txt"), `${LINES.join("\n")}\n`);
  const read = async (args: { readonly start_line?: number; readonly end_line?: number }) => {
    const { outcome } = await kernel.call("read_file", { path: "file.txt", ...args });
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    return String(outcome.data["content"]);
  };
  return { kernel, read };
}

/** Runs of the key that are long enough to be of use to anybody. */
function leaks(shown: string): readonly string[] {
  return KEY_LINES.slice(1, -1).filter((line) => shown.includes(line.slice(0, 16)) || shown.includes(line.slice(-16)));
}

test("a key of many lines is hidden, and what stands behind it keeps its numbers", async () => {
  const { read } = await opened();
  const shown = await read({ start_line: 1 });
  expect(leaks(shown)).toEqual([]);
  const numbered = shown.trimEnd().split("\n");
  expect(numbered.slice(0, BEFORE)).toEqual(["1\tone", "2\ttwo", "3\tthree"]);
  expect(numbered[BEFORE]).toMatch(/^4\t\[REDACTED:/);
  expect(numbered.at(-2)).toBe(`${LINES.length - 1}\tafter`);
  expect(numbered.at(-1)).toBe(`${LINES.length}\tlast`);
  expect(numbered).toHaveLength(LINES.length);
  // The control: it is the key that the file holds, and that is what would be shown.
  expect(leaks(LINES.join("\n"))).toHaveLength(KEY_LINES.length - 2);
});

test("whichever lines are asked for, nothing of the key is shown, and every line has its own number", async () => {
  const { read } = await opened();
  for (let first = 1; first <= LINES.length; first += 3)
    for (const last of [first, first + 1, first + 9, LINES.length]) {
      const shown = await read({ start_line: first, end_line: Math.min(last, LINES.length) });
      expect(leaks(shown), `${first}-${last}`).toEqual([]);
      const numbers = shown
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => Number(/^(\d+)\t/.exec(line)?.[1]));
      expect(numbers, `${first}-${last}`).toEqual(
        Array.from({ length: Math.min(last, LINES.length) - first + 1 }, (_, index) => first + index),
      );
    }
});
