// Which packages lock files of poetry and cargo may name, and what poetry is given of the project.
import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { cargo } from "../../../../src/tools/toolchain/install/cargo.ts";
import type { Grants, Installation, Manager } from "../../../../src/tools/toolchain/install/installation.ts";
import { poetry } from "../../../../src/tools/toolchain/install/poetry.ts";

const grantsOf = ({ registries }: Manager, more: Partial<Grants> = {}): Grants => ({
  registries: registries.map((host) => ({ host, port: 443 })),
  isOwn: false,
  scripts: false,
  ...more,
});

async function prepared(
  manager: Manager,
  texts: Readonly<Record<string, string>>,
  more: Partial<Grants> = {},
): Promise<Installation | string> {
  const files = Object.fromEntries(Object.entries(texts).map(([path, text]) => [path, { text }]));
  try {
    return await manager.prepare(files, manager.lockFiles[0] ?? "", grantsOf(manager, more));
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const textOf = (installation: Installation | string, path: string): unknown =>
  typeof installation === "string"
    ? installation
    : parse(installation.selection.files.find((file) => file.path === path)?.text ?? "");

// ---- cargo

const CRATES = "registry+https://github.com/rust-lang/crates.io-index";
const SUM = "0".repeat(64);
const crate = (source: string, checksum = SUM) =>
  `version = 4\n[[package]]\nname = "c"\nversion = "1.0.0"\nsource = "${source}"\nchecksum = "${checksum}"\n`;

test.each([
  ["a crate of the public registry", crate(CRATES)],
  ["one by its sparse index", crate("sparse+https://index.crates.io/")],
  ["a package of the workspace", 'version = 4\n[[package]]\nname = "c"\nversion = "1.0.0"\n'],
  ["nothing", "version = 4\n"],
])("cargo: %s is fine", async (_, text) => {
  expect(await prepared(cargo, { "Cargo.lock": text })).toMatchObject({
    environment: { CARGO_HOME: "/tmp" },
    selection: { rest: "read_only", workDir: "/tmp", files: [{ path: "Cargo.lock", text }] },
  });
});

test.each([
  ["git", crate("git+https://github.com/me/c?branch=x#0123")],
  ["git by ssh", crate("git+ssh://git@github.com/me/c#0123")],
  ["git on a granted host", crate("git+https://static.crates.io/c#0123")],
  ["a path", crate("path+file:///workspace/c")],
  ["a directory", crate("directory+file:///workspace/c")],
  ["a local registry", crate("local-registry+file:///workspace/c")],
  ["another index", crate("registry+https://evil.example/index")],
  ["another sparse index", crate("sparse+https://evil.example/index/")],
  ["the name of the public registry with more behind it", crate(`${CRATES}.evil.example`)],
  ["the name of the public registry by another scheme", crate("sparse+https://github.com/rust-lang/crates.io-index")],
  ["an index with a login", crate("sparse+https://me:word@index.crates.io/")],
  ["a plain index", crate("sparse+http://index.crates.io/")],
  ["no kind", crate("https://index.crates.io/")],
  ["an empty source", crate("")],
  ["no checksum", crate(CRATES).replace(/checksum.*\n/, "")],
  ["a short checksum", crate(CRATES, "0123")],
  ["a source that is a list", crate(CRATES).replace(`"${CRATES}"`, `["${CRATES}"]`).replace(SUM, "")],
  ["a replacement", `${crate(CRATES)}replace = "c 1.0.0 (git+https://evil.example/c)"\n`],
  ["no table", "package = [1]\n"],
])("cargo: %s is refused", async (_, text) => {
  expect(await prepared(cargo, { "Cargo.lock": text })).toMatch(
    /^`Cargo.lock` names the crate `(?:c|undefined)`, which .*; nothing was installed$/,
  );
});

test("cargo: a lock file that is no TOML is refused, and the public registry where the operator named others", async () => {
  expect(await prepared(cargo, { "Cargo.lock": "[[package\n" })).toBe(
    "`Cargo.lock` is not valid TOML; nothing was installed",
  );
  const registries = [{ host: "crates.example.com", port: 443 }];
  expect(await prepared(cargo, { "Cargo.lock": crate(CRATES) }, { registries, isOwn: true })).toMatch(
    /comes from `index.crates.io`, which is no registry/,
  );
  expect(
    await prepared(
      cargo,
      { "Cargo.lock": crate("sparse+https://crates.example.com/index/") },
      { registries, isOwn: true },
    ),
  ).toMatchObject({});
});

// ---- poetry

const HASH = `sha256:${"0".repeat(64)}`;
const WHEEL = `{file = "six-1.0-py3-none-any.whl", hash = "${HASH}"}`;
const SDIST = `{file = "six-1.0.tar.gz", hash = "${HASH}"}`;
const MANIFEST = '[tool.poetry]\nname = "x"\nversion = "1"\n';
const locked = (files: string, source = "") =>
  `[[package]]\nname = "six"\nversion = "1.0"\nfiles = [${files}]\n${source === "" ? "" : `[package.source]\n${source}\n`}[metadata]\nlock-version = "2.1"\n`;
const withLock = (text: string, more: Partial<Grants> = {}) =>
  prepared(poetry, { "pyproject.toml": MANIFEST, "poetry.lock": text }, more);

test("poetry: of each package the wheels alone are known, unless packages may run their scripts", async () => {
  const wheels = await withLock(locked(`${WHEEL}, ${SDIST}`));
  expect(wheels).toMatchObject({
    environment: { POETRY_INSTALLER_ONLY_BINARY: ":all:" },
    selection: { rest: "nothing", directories: [{ path: ".venv", isNew: true }] },
  });
  expect(textOf(wheels, "poetry.lock")).toMatchObject({
    package: [{ name: "six", files: [{ file: "six-1.0-py3-none-any.whl", hash: HASH }] }],
    metadata: { "lock-version": "2.1" },
  });
  const all = await withLock(locked(SDIST), { scripts: true });
  expect(all).not.toMatchObject({ environment: { POETRY_INSTALLER_ONLY_BINARY: ":all:" } });
  expect(textOf(all, "poetry.lock")).toMatchObject({ package: [{ files: [{ file: "six-1.0.tar.gz" }] }] });
});

test.each([
  ["a source distribution alone", locked(SDIST), /has no wheel, and building it runs programs/],
  ["no files", locked(""), /has no files with hashes/],
  ["no hash", locked('{file = "six-1.0-py3-none-any.whl"}'), /has no files with hashes/],
  ["a weak hash", locked('{file = "six-1.0-py3-none-any.whl", hash = "md5:0"}'), /has no files with hashes/],
  [
    "a file with a path",
    locked(`{file = "../six-1.0-py3-none-any.whl", hash = "${HASH}"}`),
    /has no files with hashes/,
  ],
  [
    "git",
    locked(WHEEL, 'type = "git"\nurl = "https://pypi.org/six.git"\nreference = "x"\nresolved_reference = "0"'),
    /comes from no package index/,
  ],
  ["a directory", locked(WHEEL, 'type = "directory"\nurl = "six"'), /comes from no package index/],
  ["an archive", locked(WHEEL, 'type = "file"\nurl = "six.whl"'), /comes from no package index/],
  [
    "an address",
    locked(WHEEL, 'type = "url"\nurl = "https://files.pythonhosted.org/six.whl"'),
    /comes from no package index/,
  ],
  ["another index", locked(WHEEL, 'type = "legacy"\nurl = "https://evil.example/simple"'), /comes from `evil.example`/],
  ["a plain index", locked(WHEEL, 'type = "legacy"\nurl = "http://pypi.org/simple"'), /by `http:`/],
  [
    "a source that is no table",
    'package = [{name = "six", source = "pypi", files = []}]\n',
    /has a source that cannot be read/,
  ],
])("poetry: a package with %s is refused", async (_, text, problem) => {
  const found = await withLock(text);
  expect(found).toMatch(/^`poetry.lock` names the package `six`, which .*; nothing was installed$/);
  expect(found).toMatch(problem);
});

test("what nests too deeply is refused and breaks nothing", async () => {
  const deep = `x = ${"[".repeat(9999)}${"]".repeat(9999)}\n`;
  expect(await withLock(deep)).toBe("`poetry.lock` is not valid TOML; nothing was installed");
  expect(await prepared(cargo, { "Cargo.lock": deep })).toBe("`Cargo.lock` is not valid TOML; nothing was installed");
});

test("poetry: the public index is refused where the operator named another", async () => {
  const registries = [{ host: "pypi.example.com", port: 443 }];
  expect(await withLock(locked(WHEEL), { registries, isOwn: true })).toMatch(/comes from `pypi.org`/);
  expect(
    await withLock(locked(WHEEL, 'type = "legacy"\nurl = "https://pypi.example.com/simple"'), {
      registries,
      isOwn: true,
    }),
  ).toMatchObject({});
});

test("poetry is given what a lock file is compared with, and no plugins, scripts or builds", async () => {
  const text = `[project]
name = "x"
version = "1"
requires-python = ">=3.10"
dependencies = ["six"]
readme = "../README.md"
[project.scripts]
run = "x:main"
[project.entry-points."poetry.plugin"]
evil = "x:Evil"
[dependency-groups]
dev = ["pytest"]
[tool.poetry]
packages = [{include = "x"}]
include = ["../x"]
[tool.poetry.group.dev.dependencies]
pytest = "*"
[tool.poetry.requires-plugins]
evil = "*"
[tool.poetry.build]
script = "build.py"
[tool.poetry.scripts]
run = "x:main"
[tool.other]
x = 1
[build-system]
requires = ["evil"]
build-backend = "evil"
backend-path = ["."]
`;
  const found = await prepared(poetry, { "pyproject.toml": text, "poetry.lock": locked(WHEEL) });
  expect(textOf(found, "pyproject.toml")).toEqual({
    project: { name: "x", version: "1", "requires-python": ">=3.10", dependencies: ["six"] },
    "dependency-groups": { dev: ["pytest"] },
    tool: { poetry: { group: { dev: { dependencies: { pytest: "*" } } } } },
  });
});

test.each([
  ["https://evil.example/simple", /names a source that comes from `evil.example`/],
  ["https://me:word@pypi.org/simple", /names a source that comes from an address with a login in it/],
  ["file:///workspace", /names a source that comes by `file:`/],
])("poetry: the source %s of the manifest is refused", async (url, problem) => {
  const text = `${MANIFEST}[[tool.poetry.source]]\nname = "s"\nurl = "${url}"\n`;
  expect(await prepared(poetry, { "pyproject.toml": text, "poetry.lock": locked(WHEEL) })).toMatch(problem);
});
