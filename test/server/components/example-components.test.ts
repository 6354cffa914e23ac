/** The example components: each is what its source was built into, and does what Brio's tool of that name does. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import { componentPlace } from "../../support/component-place.ts";

const EXAMPLES = new URL("../../../examples/components/", import.meta.url);
const bytesOf = (path: string) => readFileSync(new URL(path, EXAMPLES));
const built = (name: string) => bytesOf(`built/${name}.wasm`);
const digestOf = (path: string) => `blake3:${blake3Hex(bytesOf(path))}`;
const DIGESTS = JSON.parse(bytesOf("built/digests.json").toString()) as Record<string, Record<string, string>>;

const GRANTS = `components:
  brio-grep: { path_arguments: [path] }
  brio-read-file: { path_arguments: [path], output_bytes: 16777216 }
`;

test("each component is listed with the digests of its source, of the interface and of itself", () => {
  const names = globSync("*/*.js", { cwd: EXAMPLES.pathname }).map((path) => path.split("/")[0] ?? "");
  expect(Object.keys(DIGESTS)).toEqual(names.sort());
  for (const [name, { source, wit, component }] of Object.entries(DIGESTS)) {
    const hint = "run `node examples/components/build.mjs` after a change";
    expect([name, source], hint).toEqual([name, digestOf(`${name}/${name}.js`)]);
    expect([name, wit], hint).toEqual([name, digestOf("../../wit/tool.wit")]);
    expect([name, component], hint).toEqual([name, digestOf(`built/${name}.wasm`)]);
  }
});

test("all four are loaded, check, search, read and format; and reading asks policy as every read does", async () => {
  const names = Object.keys(DIGESTS);
  const { call, told } = await componentPlace({
    settings: GRANTS,
    components: Object.fromEntries(names.map((name) => [name, built(name)])),
    files: {
      "workspace/a.txt": "one äö\r\ntwo\nthree äö\n",
      "workspace/zeros": Uint8Array.from([1, 0, 2]),
      "workspace/.env": "TOKEN=x\n",
      "outside/far.txt": "far\n",
    },
  });
  expect(told.filter((message) => message.includes("component"))).toEqual([]);
  const said = async (tool: string, args: Record<string, string | number>) => {
    const outcome = await call(tool, args);
    if (outcome.kind === "success") return outcome.data["text"];
    return outcome.kind === "denied" ? `denied ${outcome.denial.ruleId}` : `failed ${outcome.message}`;
  };
  expect(await said("json_format", { json: "[1,2]", indent: 0 })).toBe("[1,2]");
  expect(await said("brio_shell_check", { command: "cargo build --release" })).toBe(
    '{"allowed":true,"words":["cargo","build","--release"]}',
  );
  expect(await said("brio_grep", { path: "a.txt", pattern: "äö" })).toBe("1: one äö\n3: three äö");
  expect(await said("brio_grep", { path: "a.txt", pattern: "t.o" })).toBe("no line contains it");
  expect(await said("brio_read_file", { path: "a.txt" })).toBe("one äö\r\ntwo\nthree äö\n");
  expect(await said("brio_read_file", { path: "a.txt", max_bytes: 3 })).toContain("more than 3");
  expect(await said("brio_read_file", { path: "zeros" })).toContain("null bytes");
  expect(await said("brio_read_file", { path: "none.txt" })).toMatch(/^failed /);
  expect(await said("brio_read_file", { path: ".env" })).toBe("denied ZONE:secret");
  expect(await said("brio_grep", { path: "../outside/far.txt", pattern: "far" })).toMatch(/^denied /);
  expect(await said("brio_grep", { path: "a.txt", pattern: "x".repeat(1001) })).toMatch(/^denied /);
}, 120_000);

test.each([
  ...["|", ";", "&", "$", "`", ">", "<", "(", ")", "{", "}"].map((character) => `echo a${character}b`),
  ...["rm", "mkfs", "dd", "format", "fdisk", "del"].map((command) => `${command} x`),
  ...["/bin/rm x", "env rm x", "mkfs.ext4 x", "r'm' x", "r\\m x", "RM x"],
  ...["cat ../x", "cat ..\\x", "ls\nrm x", " "],
])("brio's shell rules refuse `%s`", async (command) => {
  const { execute } = (await import(new URL("brio-shell-check/brio-shell-check.js", EXAMPLES).href)) as {
    execute: (args: string) => string;
  };
  expect(() => execute(JSON.stringify({ command }))).toThrow(/; /);
});
