// Groups that were left, in directories that stand for trees of groups: what is removed, and above all what is not.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { groupPrefix, processNamespace, sweepLeftGroups } from "../../../src/sandbox/control-groups/left-groups.ts";

function tree(...names: readonly string[]): string {
  const directory = mkdtempSync(join(tmpdir(), "handrail-groups-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const name of names) mkdirSync(join(directory, name), { recursive: true });
  return directory;
}

/** The number of a process that has been and is gone. */
function goneNumber(): number {
  const { pid } = spawnSync("true");
  return pid;
}

test("groups of a process that is gone are removed, from every tree", () => {
  const left = `${groupPrefix(processNamespace(), goneNumber())}-ins_1`;
  const [one, other] = [tree(`${left}-0`, `${left}-1`), tree(`${left}-0`)];
  expect([...sweepLeftGroups([one, other, join(one, "gone")])].sort()).toEqual([`${left}-0`, `${left}-1`]);
  expect([readdirSync(one), readdirSync(other)]).toEqual([[], []]);
});

test("groups of living processes, this one and others, stay until those are gone", async () => {
  const other = spawn("sleep", ["60"], { stdio: "ignore" });
  onTestFinished(() => void other.kill("SIGKILL"));
  const [own, theirs] = [process.pid, other.pid ?? 0].map((id) => `${groupPrefix(processNamespace(), id)}-ins_1-0`);
  const directory = tree(own ?? "", theirs ?? "");
  expect(sweepLeftGroups([directory])).toEqual([]);
  other.kill("SIGKILL");
  await once(other, "exit");
  expect(sweepLeftGroups([directory])).toEqual([theirs]);
  expect(readdirSync(directory)).toEqual([own]);
});

test("groups of another namespace, where the same number may be somebody's, and other names stay", () => {
  const id = goneNumber();
  const kept = [
    `${groupPrefix("1", id)}-ins_1-0`,
    `handrail-${id}`,
    `handrail-${id}-0`,
    "handrail-ins_1-0",
    `other-${processNamespace()}-${id}-0`,
  ];
  const directory = tree(...kept);
  expect(sweepLeftGroups([directory])).toEqual([]);
  expect(readdirSync(directory).sort()).toEqual([...kept].sort());
});

test("a group in which there is something stays", () => {
  const name = `${groupPrefix(processNamespace(), goneNumber())}-ins_1-0`;
  const directory = tree(`${name}/inner`);
  expect(sweepLeftGroups([directory])).toEqual([]);
  expect(readdirSync(directory)).toEqual([name]);
});
