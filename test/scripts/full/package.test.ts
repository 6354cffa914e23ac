// The npm package, installed from its tarball into empty folders outside of the checkout: what is in it, what its types
// say, and that it works for root and for an ordinary user on the oldest and on the current Node.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkPackage, createPackageFromTarballData } from "@arethetypeswrong/core";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ContainerRoot } from "../../support/container-root.ts";
import { buildPackage, Elsewhere, type Who } from "../../support/installed-package.ts";

/** With all dependencies, as the disk counts it. */
const INSTALLED_BYTES_MAX = 75_000_000;

const directory = mkdtempSync(join(tmpdir(), "handrail-tarball-"));
let tarball = "";

beforeAll(() => {
  chmodSync(directory, 0o755); // others install from it, too
  tarball = buildPackage(directory);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("the tarball", () => {
  const files = () =>
    execFileSync("tar", ["--list", "--file", tarball], { encoding: "utf8" })
      .split("\n")
      .map((path) => path.replace(/^package\//, ""));
  const manifest = () => JSON.parse(readFileSync(join(directory, "package/package.json"), "utf8"));

  test("holds what runs and what is read, and neither sources nor tests", () => {
    expect(files()).toEqual(
      expect.arrayContaining([
        ...["LICENSE", "README.md", "THIRD-PARTY-LICENSES.txt", "package.json", "presets/dev.cedar"],
        ...["deploy/Containerfile", "deploy/handrail.service", "examples/service/package.json"],
        ...["lib/handrail.js", "lib/index.d.ts", "lib/index.js", "lib/index.js.map", "lib/main.js"],
        ...["proto/handrail.binpb", "proto/handrail/tool/v1/tool.proto", "share/man/man1/handrail.1"],
        ...["handrail.bash", "_handrail", "handrail.fish"].map((name) => `share/completions/${name}`),
      ]),
    );
    expect(
      files().filter((path) => /^(src|test|scripts|\.)|^docs\/.*(?<!\.md)$|\.test\.ts$|(?<!\.d)\.ts$/.test(path)),
    ).toEqual([]);
    expect(files().filter((path) => /\.node$/.test(path) && !/prebuilds\/linux/.test(path))).toEqual([]);
  });

  test("can be published: not private, for Linux, without scripts, and its code is what it names", () => {
    const { private: isPrivate, scripts, engines, os, cpu, bin, exports } = manifest();
    expect({ isPrivate, scripts, engines, os, cpu, bin }).toEqual({
      isPrivate: undefined,
      scripts: undefined,
      engines: { node: ">=22.18" },
      os: ["linux"],
      cpu: ["x64", "arm64"],
      bin: { handrail: "lib/handrail.js" },
    });
    expect(exports["."]).toEqual({ types: "./lib/index.d.ts", default: "./lib/index.js" });
    expect(readFileSync(join(directory, "package/lib/handrail.js"), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  test("has entries that every resolver finds, with the types of what it finds", async () => {
    const data = readFileSync(tarball);
    const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    expect((await publint({ pack: { tarball: bytes }, strict: true })).messages).toEqual([]);
    const checked = await checkPackage(createPackageFromTarballData(data));
    if (checked.types === false) throw new Error("the package has no types");
    // CommonJS gets the modules that there are, by `require`, which takes them since Node 22.12.
    const found = checked.problems.map((problem) => [
      problem.kind,
      "resolutionKind" in problem && problem.resolutionKind,
    ]);
    expect(found).toEqual([["CJSResolvesToESM", "node16-cjs"]]);
  });
});

const MCP_LINES = [
  {
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  },
  { id: 2, method: "tools/list", params: {} },
  { id: 3, method: "tools/call", params: { name: "read_file", arguments: { path: "notes.txt" } } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  .join("");

const USERS: readonly Who[] = process.geteuid?.() === 0 ? ["this user", "an ordinary user"] : ["this user"];

describe.each(USERS)("installed globally by %s", (who) => {
  let place: Elsewhere;
  const command = () => join(place.base, "prefix/bin/handrail");
  const call = async (node: "oldest" | "current", tool: string, args: object, workspace = ".") => {
    const words = ["call", tool, "--json", JSON.stringify(args), "--workspace", workspace];
    const { stdout, stderr } = await place.run([command(), ...words], { node });
    return { ...JSON.parse(stdout), stderr };
  };

  beforeAll(async () => {
    place = new Elsewhere(who);
    await place.install("workspace", "--global", "--prefix", join(place.base, "prefix"), tarball);
    place.put("workspace/notes.txt", "one two\n");
  });
  afterAll(() => place[Symbol.dispose]());

  test("it is no larger than it may be, and has a manual page", async () => {
    expect(diskBytes(join(place.base, "prefix"))).toBeLessThan(INSTALLED_BYTES_MAX);
    const page = join(place.base, "prefix/share/man/man1/handrail.1");
    expect(readFileSync(page, "utf8")).toContain(".SS handrail mcp\n");
  });

  test.each(["oldest", "current"] as const)("it serves and calls on the %s Node", async (node) => {
    const { version } = JSON.parse(readFileSync("package.json", "utf8"));
    expect(await place.run([command(), "--version"], { node })).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: "",
    });
    const served = await place.run([command(), "mcp", "--workspace", "."], { node, input: MCP_LINES });
    const answers = served.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.find(({ id }) => id === 2).result.tools.length).toBeGreaterThan(5);
    expect(answers.find(({ id }) => id === 3).result.content).toEqual([{ type: "text", text: "one two\n" }]);
    // each of these starts another program of the package: a search thread, a sandbox, the ledger's thread
    expect(await call(node, "search_file", { path: ".", regex: "two" })).toMatchObject({ status: "success" });
    expect(await call(node, "shell", { command: "cat notes.txt" })).toMatchObject({
      data: { stdout: "one two\n" },
      stderr: "",
    });
    expect(await call(node, "read_file", { path: ".env" })).toMatchObject({ error: { rule_id: "ZONE:secret" } });
    const { code, stdout } = await place.run([command(), "ledger", "verify"], { node });
    expect([code, stdout]).toEqual([0, expect.stringContaining("intact")]);
  });

  test("a component in the operator's folder is a tool, also on the oldest Node", async () => {
    const built = readFileSync("examples/components/built/json-format.wasm");
    const folder = "home/.config/handrail/components";
    for (const directory of ["home/.config", "home/.config/handrail", folder]) chmodSync(place.make(directory), 0o700);
    place.put(`${folder}/json-format.wasm`, built);
    try {
      for (const node of ["oldest", "current"] as const) {
        const { code, stdout } = await place.run([command(), "tools", "json_format", "--json"], { node });
        expect([code, stdout]).toEqual([0, expect.stringContaining("spaces of indentation")]);
      }
    } finally {
      rmSync(join(place.base, folder), { recursive: true });
    }
  });

  test("its own files are read only to tools, whatever else a workspace holds", async () => {
    const denied = { error: { rule_id: "ZONE:installation" } };
    // not the place itself, which holds a home directory and would be refused for that
    const around = join(place.base, "prefix/lib/node_modules");
    const own = "handrail/presets/dev.cedar";
    expect(await call("current", "write_file", { path: own, content: "" }, around)).toMatchObject(denied);
    const beside = join(place.base, "prefix");
    const other = await call("current", "write_file", { path: "project/own.txt", content: "" }, beside);
    expect(other).toMatchObject({ status: "success" });
  });

  test("`handrail start` shows the kernel at work, and says how to start it again", async () => {
    const { code, stdout } = await place.run([command(), "start", "--once"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${command()} setup claude-code`)]);
  });
});

/** A program as a user writes it: an allowed and a refused call, and the end of both by `await using`. */
const PROGRAM = `
import { createKernel, type CallResult } from "handrail";
await using kernel = await createKernel({ stateDirectory: process.argv[2] ?? "" });
await using session = await kernel.openSession({ workspace: process.argv[3] ?? "" });
const shown = ({ result }: CallResult): string => result.status === "success" ? "read" : result.error.code;
console.log(shown(await session.call("read_file", { path: "notes.txt" })), shown(await session.call("read_file", { path: ".env" })));
`;
const COMPILER = {
  strict: true,
  target: "es2022",
  outDir: "out",
  noEmitOnError: true,
  exactOptionalPropertyTypes: true,
};
const SETTINGS = {
  nodenext: { ...COMPILER, module: "nodenext", moduleResolution: "nodenext" },
  bundler: { ...COMPILER, module: "esnext", moduleResolution: "bundler" },
};

describe("in a fresh TypeScript project", () => {
  let place: Elsewhere;
  beforeAll(async () => {
    place = new Elsewhere("an ordinary user");
    place.put("project/package.json", '{ "type": "module", "private": true }\n');
    await place.install(
      "project",
      tarball,
      `typescript@${JSON.parse(readFileSync("node_modules/typescript/package.json", "utf8")).version}`,
    );
    place.put("project/main.ts", PROGRAM);
    place.put("workspace/notes.txt", "one two\n");
  });
  afterAll(() => place[Symbol.dispose]());
  const compile = (name: keyof typeof SETTINGS, files = ["main.ts"]) => {
    const settings = { compilerOptions: SETTINGS[name], files };
    place.put("project/tsconfig.json", JSON.stringify(settings));
    return place.run(["npx", "--no-install", "tsc", "-p", "."], { folder: "project" });
  };

  test.each(["nodenext", "bundler"] as const)(
    "the types hold with moduleResolution %s, and the program runs",
    async (name) => {
      expect(await compile(name)).toEqual({ code: 0, stdout: "", stderr: "" });
      for (const node of ["oldest", "current"] as const) {
        const state = join(place.make("states"), `${name}-${node}`);
        const words = ["node", "out/main.js", state, join(place.base, "workspace")];
        const { code, stdout } = await place.run(words, { folder: "project", node });
        expect([code, stdout]).toEqual([0, "read WORKSPACE_BLOCKED_ZONE\n"]);
      }
    },
  );

  test("control: a program that misuses the types does not compile", async () => {
    place.put("project/wrong.ts", PROGRAM.replace('"read_file"', "1"));
    expect((await compile("nodenext", ["wrong.ts"])).stdout).toMatch(/wrong\.ts\(\d+,\d+\): error TS2345/);
  });

  test("`npx handrail` is the command, and its cache of compiled code is the user's alone", async () => {
    const { code, stdout } = await place.run(
      ["npx", "--no-install", "handrail", "mcp", "--workspace", join(place.base, "workspace")],
      {
        folder: "project",
        input: MCP_LINES,
      },
    );
    expect([code, stdout]).toEqual([0, expect.stringContaining("one two")]);
    const cache = lstatSync(join(place.base, "home/.cache/handrail/compiled"));
    expect([cache.mode & 0o777, cache.uid]).toEqual([0o700, lstatSync(join(place.base, "home")).uid]);
  });

  test("a cache that others could write is not used, and an old Node is refused in one line", async () => {
    const open = place.make("caches/handrail/compiled");
    mkdirSync(join(place.base, "caches"), { recursive: true });
    execFileSync("chmod", ["0777", join(place.base, "caches")]);
    const main = join(place.base, "project/node_modules/handrail/lib/handrail.js");
    await place.run(["node", main, "--version"], { environment: { XDG_CACHE_HOME: join(place.base, "caches") } });
    expect(readdirSync(open)).toEqual([]);
    const older = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.17.9"})`;
    const { code, stderr } = await place.run(["node", "--import", older, main, "--version"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^handrail: Node \S+ is too old; install Node 22\.18 .*\n$/),
    ]);
  });
});

// What builds a container's file system is root's alone.
describe.each(USERS.slice(1))("in a container that the recipe makes, beside %s", () => {
  test("it serves the workspace as its own user, and runs commands where the container may make namespaces", async () => {
    using place = new Elsewhere("this user");
    const container = new ContainerRoot(place);
    await container.build(tarball);
    writeFileSync(join(container.root, "workspace/notes.txt"), "one two\n");
    const served = await container.run(MCP_LINES);
    expect(served.stdout).toContain("one two");
    expect(lstatSync(join(container.root, "var/lib/handrail/ledger.db")).uid).toBe(7465);
    const command = ["call", "shell", "--json", '{"command":"cat notes.txt"}', "--workspace", "/workspace"];
    expect(JSON.parse((await container.run("", command)).stdout)).toMatchObject({ data: { stdout: "one two\n" } });
  });
});

/** What a directory takes on the disk, in bytes. */
function diskBytes(path: string): number {
  const { blocks } = lstatSync(path);
  const below = lstatSync(path).isDirectory() ? readdirSync(path).map((name) => diskBytes(join(path, name))) : [];
  return blocks * 512 + below.reduce((sum, bytes) => sum + bytes, 0);
}
