/**
 * Programs inside of programs: a permit by a program's name covers plain use only. Each call is judged under a permit
 * that names its program and lifts whatever would ask about it, so that only the mark of the call stands against it.
 */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import type { PresetName } from "../../src/model/people/preset.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { engineOf, operator, presetSources, request } from "../support/policy-fixtures.ts";

beforeAll(() => shell.prepare?.());

const linesOf = (name: string) =>
  readFileSync(new URL(`../vectors/shell/${name}.txt`, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));

const GADGETS = linesOf("gadgets");
const PLAIN = linesOf("plain-calls");

/** The word behind the assignments in front. */
const programOf = (line: string) => /^(?:\w+=(?:'[^']*'|\S)*\s+|echo .* \| )*(\S+)/.exec(line)?.[1] ?? "";

const PRESETS: readonly PresetName[] = ["dev", "meao", "brio", "reader"];

/** What becomes of all lines under a permit for each one's program: `goes`, `asks` or `denied`. */
async function outcomes(preset: PresetName, lines: readonly string[]): Promise<readonly string[]> {
  const programs = [...new Set(["echo", ...lines.map(programOf)])];
  const permit = `@id("own.programs") @waives("*")
    permit (principal, action == Handrail::Action::"shell", resource is Handrail::Command)
    when { ${JSON.stringify(programs)}.contains(resource.binary) };`;
  const engine = await engineOf([...presetSources(preset), operator(permit)]);
  return lines.map((command) => {
    const verdicts = shell
      .analyse({ command })
      .filter(({ resource }) => resource.kind === "command")
      .map(({ resource, effect }) =>
        engine.evaluate(request({ action: "shell", effect, resource: resource as never })),
      );
    if (verdicts.some(({ decision }) => decision === "deny")) return "denied";
    const asks = verdicts.some(
      (verdict) => verdict.decision === "allow" && verdict.obligations.some(({ obligation }) => obligation === "ask"),
    );
    return asks ? "asks" : "goes";
  });
}

const onlyWhere = (lines: readonly string[], all: readonly string[], wrong: (outcome: string) => boolean) =>
  lines.flatMap((line, at) => (wrong(all[at] ?? "") ? [`${line}: ${all[at]}`] : []));

test("there are enough of them, each once", () => {
  expect(new Set(GADGETS).size).toBe(GADGETS.length);
  expect(GADGETS.length).toBeGreaterThan(400);
  expect(PLAIN.length).toBeGreaterThan(150);
});

describe.each(PRESETS)("under %s, with a permit that names the program", (preset) => {
  // A word that is only known at run time has the preset decide as for any program; in `dev` those run.
  const isDynamic = (line: string) => /[$*{]/.test(line.replaceAll(/'[^']*'/g, ""));

  test("no gadget runs unasked", async () => {
    const all = await outcomes(preset, GADGETS);
    const wrong = onlyWhere(GADGETS, all, (outcome) => outcome === "goes");
    expect(wrong.filter((line) => !(preset === "dev" && isDynamic(line)))).toEqual([]);
  });

  test("plain uses run unasked", async () => {
    const lines = preset === "brio" ? PLAIN.filter((line) => !/[|;&$`><(){}]|\.\./.test(line)) : PLAIN;
    expect(onlyWhere(lines, await outcomes(preset, lines), (outcome) => outcome !== "goes")).toEqual([]);
  });
});

test("the reason names the part of the call, in the list's words alone", () => {
  const reasons = (command: string) =>
    shell
      .analyse({ command })
      .flatMap(({ resource }) =>
        resource.kind === "command" && resource.binary !== "?" ? (resource.reasons ?? []) : [],
      );
  expect(reasons("tar xf a.tar --to-comm 'rm -rf $HOME'")).toEqual([
    "`tar --to-command` starts another program (tar(1))",
  ]);
  expect(reasons("curl --engine ./secret.so https://x")).toEqual([
    "`curl --engine` loads a library or plug-in (curl(1))",
  ]);
  expect(reasons("sqlite3 db '.shell id'")).toEqual([
    "`sqlite3 a command such as .shell` starts another program (sqlite3(1))",
  ]);
  expect(reasons("tar xf a.tar")).toEqual([]);
});
