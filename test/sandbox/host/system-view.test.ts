// The Node that runs the kernel is seen, and nothing else of where it lies.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ownToolchain } from "../../../src/sandbox/host/system-view.ts";

/** A directory as somebody's home may be, with a Node in `bin`. */
function home(): string {
  const base = mkdtempSync(join(tmpdir(), "handrail-node-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const path of ["bin", ".ssh", "lib/secrets"]) mkdirSync(join(base, path), { recursive: true });
  for (const path of ["bin/node", "bin/own-script", ".ssh/key"]) writeFileSync(join(base, path), "");
  symlinkSync("../.ssh/key", join(base, "bin/key"));
  return base;
}

test("below a home only the program is seen", () => {
  const base = home();
  const node = join(base, "bin/node");
  expect(ownToolchain(node)).toEqual({
    mounts: [{ kind: "read_only", source: node, target: node }],
    path: [join(base, "bin")],
  });
});

test("its packages are seen with it, by the links that lead to them", () => {
  const base = home();
  mkdirSync(join(base, "lib/node_modules/npm/bin"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(base, "bin/npm"));
  const [node, packages] = [join(base, "bin/node"), join(base, "lib/node_modules")];
  expect(ownToolchain(node).mounts).toEqual([
    { kind: "read_only", source: node, target: node },
    { kind: "read_only", source: packages, target: packages },
    { kind: "link", points: "../lib/node_modules/npm/bin/npm-cli.js", target: join(base, "bin/npm") },
  ]);
});

test("the system's own Node is seen with the system", () => {
  expect(ownToolchain("/usr/bin/node")).toEqual({ mounts: [], path: [] });
});
