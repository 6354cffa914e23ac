// Which packages a lock file of npm may name.
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/base/json.ts";
import type { Grants } from "../../../../src/tools/toolchain/install/installation.ts";
import { judgeNpmLock, lockedMembers } from "../../../../src/tools/toolchain/install/npm-lock.ts";

const GRANTS: Grants = { registries: [{ host: "registry.npmjs.org", port: 443 }], isOwn: false, scripts: false };
const OWN: Grants = { registries: [{ host: "npm.example.com", port: 80 }], isOwn: true, scripts: false };
const INTEGRITY = `sha512-${"A".repeat(86)}==`;
const FINE = { version: "1.0.0", resolved: "https://registry.npmjs.org/x/-/x-1.0.0.tgz", integrity: INTEGRITY };

const lockOf = (packages: JsonValue, more: object = {}) =>
  JSON.stringify({ name: "p", lockfileVersion: 3, requires: true, packages, ...more });

function judged(text: string, grants = GRANTS): unknown {
  try {
    return judgeNpmLock("package-lock.json", text, grants);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}

/** What is said of one package at `node_modules/x`. */
const one = (entry: JsonValue, path = "node_modules/x", grants = GRANTS) =>
  judged(lockOf({ "": { name: "p" }, [path]: entry }), grants);

test.each([
  ["a package of the registry", FINE, "node_modules/x"],
  ["one of a scope", FINE, "node_modules/@me/x"],
  ["a nested one", FINE, "node_modules/y/node_modules/x"],
  ["one under another name", { ...FINE, name: "other" }, "node_modules/x"],
  [
    "one whose address is left out, which the registry answers for",
    { version: "1.0.0", integrity: INTEGRITY },
    "node_modules/x",
  ],
  ["one with several hashes", { ...FINE, integrity: `sha1-${"A".repeat(27)}= ${INTEGRITY}` }, "node_modules/x"],
  ["one with the port said", { ...FINE, resolved: "https://registry.npmjs.org:443/x.tgz" }, "node_modules/x"],
  ["one with scripts, which are not run", { ...FINE, hasInstallScript: true }, "node_modules/x"],
])("%s is fine", (_, entry, path) => {
  expect(one(entry, path)).toMatchObject({ members: [], moduleDirectories: ["node_modules"] });
});

const BUNDLED = "node_modules/y/node_modules/x";
const within = (around: JsonObject, entry: JsonObject = { version: "1.0.0", inBundle: true }) =>
  judged(lockOf({ "": { name: "p" }, "node_modules/y": { ...FINE, ...around }, [BUNDLED]: entry }));

test("one that comes within another is fine where that has a hash and says what it bundles", () => {
  expect(within({ bundleDependencies: ["x"] })).toMatchObject({ fetched: 1 });
});

test.each<[string, () => unknown]>([
  ["within one that bundles nothing", () => within({})],
  ["within one that names none that it bundles", () => within({ bundleDependencies: [] })],
  ["within one that names others", () => within({ bundleDependencies: ["y", "node_modules/x"] })],
  ["within one that says no", () => within({ bundleDependencies: false })],
  ["within one that names itself by a text", () => within({ bundleDependencies: "x" })],
  ["at the root", () => one({ version: "1.0.0", inBundle: true })],
  [
    "from an address",
    () =>
      within({ bundleDependencies: ["x"] }, { version: "http://registry.npmjs.org/z/-/z-1.0.0.tgz", inBundle: true }),
  ],
])("one that says it comes within another is refused %s", (_, judge) => {
  expect(judge()).toMatch(/names the package/);
});

test("no entry tells npm what to run", () => {
  const told = { scripts: { postinstall: "id" }, gypfile: true, _resolved: "x", hasInstallScript: true };
  const { text } = one({ ...FINE, ...told }) as { text: string };
  const { packages } = JSON.parse(text) as { packages: Record<string, object> };
  expect(packages["node_modules/x"]).toEqual({ ...FINE, hasInstallScript: true });
});

test.each([
  ...[
    "git+ssh://git@registry.npmjs.org/x.git#0",
    "git+https://registry.npmjs.org/x.git#0",
    "git+file:///workspace/x#0",
    "git://registry.npmjs.org/x",
  ],
  ...[
    "git@host.example:x.git",
    "github:me/x",
    "me/x",
    "ssh://registry.npmjs.org/x",
    "http://registry.npmjs.org/x.tgz",
    "ftp://registry.npmjs.org/x.tgz",
  ],
  ...[
    "https://evil.example/x.tgz",
    "https://registry.npmjs.org.evil.example/x.tgz",
    "https://evil.example/registry.npmjs.org/x.tgz",
  ],
  ...[
    "https://registry.npmjs.org@evil.example/x.tgz",
    "https://me:word@registry.npmjs.org/x.tgz",
    "https://registry.npmjs.org:8443/x.tgz",
  ],
  ...[
    "https://registry.npmjs.org:80/x.tgz",
    "https://registry.npmjs.org./x.tgz",
    "https://REGISTRY.npmjs.org.evil.example/x",
    "//registry.npmjs.org/x.tgz",
  ],
  ...[
    "file:x.tgz",
    "file:../x.tgz",
    "file:///etc/passwd",
    "x.tgz",
    "../x",
    "/etc",
    "data:application/gzip,x",
    "https://",
    "https:",
    "javascript:0",
    "",
  ],
  ...[
    "https://registry\u3002npmjs\u3002org.evil.example/x",
    "https://registry.npmjs.org\\@evil.example/x",
    "https://127.0.0.1/x.tgz",
    "https://[::1]/x.tgz",
  ],
])("a package from %j is refused", (resolved) => {
  expect(one({ ...FINE, resolved })).toMatch(
    /^`package-lock.json` names the package `node_modules\/x`, which comes .*; nothing was installed$/,
  );
});

test.each([
  ["no hash", { ...FINE, integrity: undefined }],
  ["an empty hash", { ...FINE, integrity: "" }],
  ["a hash of another kind", { ...FINE, integrity: `md5-${"A".repeat(22)}==` }],
  ["a hash and words", { ...FINE, integrity: `${INTEGRITY} x` }],
  ["a hash that is no text", { ...FINE, integrity: [INTEGRITY] }],
  ["a source that is no text", { ...FINE, resolved: { href: FINE.resolved } }],
  ["a source that is null", { ...FINE, resolved: null }],
  ["no source and no hash", { version: "1.0.0" }],
  ["a version that is an address", { version: "https://evil.example/a.tgz", integrity: INTEGRITY }],
  ["a version that is an address, beside a source", { ...FINE, version: "https://evil.example/a.tgz" }],
  ["a version that is no text", { ...FINE, version: ["1.0.0"] }],
  ["neither version nor source", { integrity: INTEGRITY }],
  ["a bundle that comes from elsewhere", { inBundle: true, resolved: "https://evil.example/x.tgz" }],
  ["a bundle by another word", { inBundle: "true", version: "1.0.0" }],
  ["a link out of the workspace", { resolved: "../x", link: true }],
  ["a link to a place with no package", { resolved: "packages/a", link: true }],
  ["a link to the root", { resolved: "", link: true }],
  ["a link to an address", { resolved: "file:packages/a", link: true }],
  ["a link by another word", { resolved: "packages/a", link: "true" }],
  ["a link with null", { ...FINE, link: null }],
  ["no object", "1.0.0"],
  ["an array", [FINE]],
  ["null", null],
])("a package with %s is refused", (_, entry) => {
  expect(one(entry as JsonValue)).toMatch(/^`package-lock.json` names the package `node_modules\/x`, which /);
});

test.each([
  ...[
    "../x",
    "/etc",
    "packages/../../x",
    "./packages/a",
    "packages//a",
    "packages/a/",
    "a\\b",
    "a\nb",
    "a\0b",
    "node_modules/../../x",
    ".",
  ],
])("a package at %j is refused", (path) => {
  expect(one({ name: "x" }, path)).toMatch(/does not lie in the workspace|has no hash/);
  expect(one(FINE, path)).toMatch(/does not lie in the workspace/);
});

test.each([".github/workflows/node_modules/q", "src/node_modules/q", "packages/a/b/node_modules/q"])(
  "a package at %j, where no package of the workspace has modules, is refused",
  (path) => {
    const packages = { "": { name: "p" }, "packages/a": { name: "a" }, [path]: FINE };
    expect(judged(lockOf(packages))).toMatch(/lies below no package of the workspace/);
  },
);

test("packages of the workspace are linked where they lie, and have modules of their own", () => {
  const packages = {
    "": { name: "p", workspaces: ["packages/*"] },
    "node_modules/a": { resolved: "packages/a", link: true },
    "packages/a": { name: "a" },
    "packages/a/node_modules/x": FINE,
    "packages/a/node_modules/x/node_modules/y": FINE,
    "node_modules/x": FINE,
  };
  const expected = {
    members: ["packages/a"],
    moduleDirectories: ["node_modules", "packages/a/node_modules"],
    fetched: 3,
  };
  expect(judged(lockOf(packages))).toMatchObject(expected);
  expect(lockedMembers(lockOf(packages))).toEqual(["packages/a"]);
  expect(judged(lockOf({ ...packages, "packages/a": { ...FINE } }))).toMatch(
    /lies in the workspace and comes from elsewhere/,
  );
  expect(judged(lockOf({ ...packages, "": { resolved: FINE.resolved } }))).toMatch(
    /is the project itself and comes from elsewhere/,
  );
});

test("npm is given the judged packages and nothing else of the file", () => {
  const dependencies = { evil: { version: "git+ssh://git@evil.example/x.git" } };
  const found = judged(
    lockOf({ "": {}, "node_modules/x": FINE }, { dependencies, overrides: {}, resolved: "x", $schema: "x" }),
  );
  const { text } = found as { readonly text: string };
  expect(JSON.parse(text)).toEqual({
    name: "p",
    lockfileVersion: 3,
    requires: true,
    packages: { "": {}, "node_modules/x": FINE },
  });
});

test.each([
  ["no JSON", "{", "cannot be used (not valid JSON)"],
  ["an array", "[]", "cannot be used (no object)"],
  [
    "a merge that was not finished",
    '<<<<<<< HEAD\n{"lockfileVersion":3}\n=======\n{}\n>>>>>>> x',
    "cannot be used (not valid JSON)",
  ],
  [
    "packages twice",
    '{"lockfileVersion":3,"packages":{},"packages":{}}',
    "cannot be used (an object names a member twice)",
  ],
  [
    "a deep nest",
    `{"lockfileVersion":3,"packages":${"[".repeat(9999)}${"]".repeat(9999)}}`,
    "cannot be used (nested more than 64 levels deep)",
  ],
  [
    "a prototype",
    '{"lockfileVersion":3,"packages":{"__proto__":{}}}',
    "cannot be used (the member name `__proto__` is not allowed)",
  ],
  ["the first version", '{"lockfileVersion":1,"dependencies":{}}', "is not of version 2 or 3"],
  ["a version of another kind", '{"lockfileVersion":"3","packages":{}}', "is not of version 2 or 3"],
  ["no packages", '{"lockfileVersion":3}', "is not of version 2 or 3"],
  ["packages that are a list", '{"lockfileVersion":3,"packages":[]}', "is not of version 2 or 3"],
])("a file with %s is refused", (_, text, problem) => {
  expect(judged(text)).toBe(`\`package-lock.json\` ${problem}; nothing was installed`);
});

test("a registry of the operator's own stands in place of the public one, on its port", () => {
  expect(one({ ...FINE, resolved: "http://npm.example.com/x.tgz" }, "node_modules/x", OWN)).toMatchObject({
    fetched: 1,
  });
  for (const resolved of [FINE.resolved, "https://npm.example.com/x.tgz", "http://npm.example.com:8080/x.tgz"]) {
    expect(one({ ...FINE, resolved }, "node_modules/x", OWN)).toMatch(
      /which is no registry that this installation may reach/,
    );
  }
});
