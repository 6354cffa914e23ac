// Files of the package are found from the checkout, and the way to start it is one that lasts.
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  handrailVersion,
  launchCommand,
  packageFile,
  packageRoot,
} from "../../../src/server/operator/package-files.ts";

const ROOT = realpathSync(process.cwd());

test("the package is the nearest directory whose manifest says that it is Handrail's", () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-package-")));
  onTestFinished(() => rmSync(base, { recursive: true }));
  const root = join(base, "node_modules/handrail");
  const within = join(root, "lib/deep");
  mkdirSync(within, { recursive: true });
  const says = (directory: string, manifest: string) => writeFileSync(join(directory, "package.json"), manifest);
  expect(packageRoot(within)).toBeUndefined();
  says(base, '{"name":"handrail"}');
  expect(packageRoot(within)).toBe(base);
  says(root, '{"name":"handrail"}');
  says(dirname(within), '{"name":"another"}');
  says(within, "no JSON");
  expect(packageRoot(within)).toBe(root);
});

test("a file and the version are those of the checkout that is tested", () => {
  expect(packageFile("presets/dev.cedar")).toBe(join(ROOT, "presets/dev.cedar"));
  expect(handrailVersion()).toBe(JSON.parse(readFileSync("package.json", "utf8")).version);
});

test("a checkout is started by its launcher, whatever started this process", () => {
  for (const started of [undefined, "/usr/bin/handrail", join(ROOT, "src/cli/main.ts")])
    expect(launchCommand(started)).toEqual([join(ROOT, "handrail")]);
});
