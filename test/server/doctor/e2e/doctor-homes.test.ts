// What `handrail doctor` says of the sandbox where programs that commands see lie in somebody's home.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { defaultSettings } from "../../../../src/config/config.ts";
import {
  HOMES,
  lookingCommand,
  notHidden,
  sandboxFindings,
  shownInHomes,
} from "../../../../src/server/doctor/doctor-sandbox.ts";

const base = mkdtempSync(join(homedir(), ".handrail-doctor-test-"));
afterAll(() => rmSync(base, { recursive: true }));

test("a toolchain in a home is no fault, for any sandbox: what lies beside it is hidden", async () => {
  const toolchain = join(base, "checkout/.toolchain/node");
  mkdirSync(join(toolchain, "bin"), { recursive: true });
  writeFileSync(join(base, "checkout/private"), "");
  const settings = defaultSettings();
  const settled = { ...settings, sandbox: { ...settings.sandbox, toolchains: [toolchain] } };
  const [inForce, others] = await sandboxFindings({ settings: settled });
  expect([inForce?.status, inForce?.detail]).toEqual(["ok", expect.stringContaining("contains commands")]);
  expect(others?.detail).toContain("contains commands");
});

test("what a command may see of homes is what is shown to it, and the way there", () => {
  const [first, second] = HOMES;
  const below = (home: string, ...names: readonly string[]) => names.map((name) => `${home}/${name}`);
  expect(
    shownInHomes(["/usr", ...below(first, "x/node/bin/node"), ...below(second, "user/t"), `${second}s/b`, second]),
  ).toEqual({
    directories: [second, ...below(second, "user"), first, ...below(first, "x", "x/node", "x/node/bin")],
    entries: [...below(second, "user", "user/t"), ...below(first, "x", "x/node", "x/node/bin", "x/node/bin/node")],
  });
  expect(shownInHomes(["/usr"])).toEqual({ directories: [second, first], entries: [] });
});

test("a command that is not contained sees more, and is found out by it", () => {
  const hidden = mkdtempSync(join(tmpdir(), "handrail-doctor-test-"));
  const look = (path: string) => {
    const [program, ...given] = lookingCommand(path, [base]);
    return spawnSync(program, given, { encoding: "utf8" }).stdout.replace(/^.*/, "1000");
  };
  writeFileSync(join(base, ".private"), "");
  const all = look(hidden);
  expect(notHidden(all, [])).toContain(`saw \`${hidden}\`, `);
  rmSync(hidden, { recursive: true });
  const rest = look(hidden);
  expect(notHidden(rest, [])).toContain(`\`${join(base, ".private")}\``);
  expect(notHidden(rest, rest.trimEnd().split("\n").slice(1))).toBeUndefined();
  expect(notHidden("0\n", [])).toContain("ran as user `0`");
});
