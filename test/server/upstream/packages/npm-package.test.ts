/** Packages of upstream servers, installed by the machine's npm from a registry that the test is. */

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { installNpmPackage } from "../../../../src/server/upstream/packages/npm-package.ts";
import { npmRegistry, type Published } from "../../../support/npm-registry.ts";
import { freshPlace } from "../../../support/place.ts";

const TIMEOUT = { timeout: 120_000 };

/** A registry with one package, and how to install from it. */
async function registry(published: Published, options: { readonly program?: string } = {}) {
  const place = freshPlace();
  const { hash, environment } = await npmRegistry(place, published);
  const directory = join(place.outside, "package");
  const install = async (spec: string) => await installNpmPackage({ spec, environment, ...options }, directory);
  return { place, directory, hash, install };
}

const SERVER = { bin: { server: "dist/index.js" } };
const FILES = { "dist/index.js": "#!/usr/bin/env node\n" };

test("a package is installed with its exact version and hash, and its scripts do not run", TIMEOUT, async () => {
  const scripts = {
    preinstall: "touch ../../../../ran",
    install: "touch ../../../../ran",
    postinstall: "touch ../../../../ran",
  };
  const { place, directory, hash, install } = await registry({ manifest: { ...SERVER, scripts }, files: FILES });
  const installed = await install("@notes/server");
  expect(installed).toEqual({
    name: "@notes/server",
    version: "1.2.3",
    integrity: hash,
    program: "/mnt/package/node_modules/@notes/server/dist/index.js",
  });
  expect(readFileSync(join(directory, "node_modules/@notes/server/dist/index.js"), "utf8")).toBe(
    FILES["dist/index.js"],
  );
  expect(readdirSync(place.outside).sort()).not.toContain("ran");
  expect(existsSync(`${directory}.new`)).toBe(false);
});

test.each([
  "notes@file:../x",
  "../notes",
  "/etc/notes",
  "git+ssh://git@example.org/notes",
  "alias@npm:other",
  "notes@https://example.org/x.tgz",
  "-g",
  "--prefix=/",
  "Notes Server",
  "",
])("what is no package of a registry is refused before npm runs: %s", async (spec) => {
  const { directory, install } = await registry({ manifest: SERVER, files: FILES });
  await expect(install(spec)).rejects.toThrow("as a registry knows it");
  expect(existsSync(directory)).toBe(false);
});

test("what npm says is passed on, and nothing is left", TIMEOUT, async () => {
  const { directory, install } = await registry({ manifest: SERVER, files: FILES });
  await expect(install("@notes/other")).rejects.toThrow(/could not be installed:.*404/s);
  await expect(install("@notes/server@9.9.9")).rejects.toThrow(/could not be installed:.*9\.9\.9/s);
  expect(existsSync(directory)).toBe(false);
  expect(existsSync(`${directory}.new`)).toBe(false);
});

test("content that has not the registry's hash is not installed", TIMEOUT, async () => {
  const integrity = `sha512-${Buffer.alloc(64, 7).toString("base64")}`;
  const { directory, install } = await registry({ manifest: SERVER, files: FILES, integrity });
  await expect(install("@notes/server")).rejects.toThrow(/EINTEGRITY|integrity/);
  expect(existsSync(directory)).toBe(false);
});

test.each([
  [{}, undefined, "holds no program"],
  [{ bin: { one: "a.js", two: "b.js" } }, undefined, "with --bin: one, two"],
  [{ bin: { one: "a.js", two: "b.js" } }, "three", "with --bin: one, two"],
  [{ bin: { server: "missing.js" } }, undefined, "is not there"],
  [{ bin: { server: "../../../../../../../../../../bin/sh" } }, undefined, "is not there"],
])("of %j with %s it is said which program is meant", TIMEOUT, async (manifest, program, message) => {
  const { directory, install } = await registry(
    { manifest, files: { "a.js": "", "b.js": "" } },
    { ...(program !== undefined && { program }) },
  );
  await expect(install("@notes/server")).rejects.toThrow(message);
  expect(existsSync(directory)).toBe(false);
});

test("of several programs that named like the package is meant, else the one that is named", TIMEOUT, async () => {
  const files = { "a.js": "", "b.js": "" };
  const alike = await registry({ manifest: { bin: { other: "a.js", server: "b.js" } }, files });
  expect((await alike.install("@notes/server@1.2.3")).program).toMatch(/b\.js$/);
  const named = await registry({ manifest: { bin: { one: "a.js", two: "b.js" } }, files }, { program: "two" });
  expect((await named.install("@notes/server@latest")).program).toMatch(/b\.js$/);
});
