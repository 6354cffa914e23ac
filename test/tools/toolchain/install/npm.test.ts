// What npm is given of a project, what it is told besides, and what people are shown.
import { expect, test } from "vitest";
import type { Grants, Installation } from "../../../../src/tools/toolchain/install/installation.ts";
import { npm } from "../../../../src/tools/toolchain/install/npm.ts";

const GRANTS: Grants = { registries: [{ host: "registry.npmjs.org", port: 443 }], isOwn: false, scripts: false };
const LOCK = JSON.stringify({ lockfileVersion: 3, packages: { "": {} } });

function prepared(manifest: object, configuration?: string, grants = GRANTS): Installation {
  const files = {
    "package.json": { text: JSON.stringify(manifest) },
    "package-lock.json": { text: LOCK },
    ".npmrc": configuration === undefined ? null : { text: configuration },
  };
  const installation = npm.prepare(files, "package-lock.json", grants);
  if (installation instanceof Promise) throw new Error("npm's files are judged at once");
  return installation;
}

test("of a manifest npm sees what describes dependencies", () => {
  const kept = {
    name: "p",
    version: "1.0.0",
    workspaces: ["a"],
    dependencies: { x: "1" },
    overrides: { y: "1" },
    engines: { node: ">=1" },
  };
  const dropped = {
    ...{
      scripts: { preinstall: "sh evil.sh" },
      config: { git: "/evil" },
      publishConfig: { registry: "https://evil.example" },
      gypfile: true,
    },
    ...{
      packageManager: "yarn@99",
      devEngines: { packageManager: { name: "evil" } },
      binary: { host: "https://evil.example" },
      directories: {},
    },
  };
  const { selection } = prepared({ ...kept, ...dropped });
  expect(selection).toMatchObject({ rest: "nothing", directories: [{ path: "node_modules" }] });
  expect(selection.files.map(({ path, text }) => [path, JSON.parse(text)])).toEqual([
    ["package-lock.json", { lockfileVersion: 3, requires: true, packages: { "": {} } }],
    ["package.json", kept],
  ]);
});

test("the kernel's own settings stand, whatever the project says", () => {
  expect(prepared({}, "engine-strict=true\n").environment).toEqual({
    npm_config_engine_strict: "true",
    npm_config_userconfig: "/tmp/.no-user-npmrc",
    npm_config_globalconfig: "/tmp/.no-global-npmrc",
    npm_config_git: "/bin/false",
    npm_config_script_shell: "/bin/sh",
    COREPACK_ENABLE_NETWORK: "0",
  });
  const own: Grants = { registries: [{ host: "npm.example.com", port: 8443 }], isOwn: true, scripts: false };
  expect(prepared({}, undefined, own).environment).toMatchObject({
    npm_config_registry: "https://npm.example.com:8443/",
  });
});

test("people are shown how much is locked, and the configuration", () => {
  const files = { "package-lock.json": { text: LOCK }, ".npmrc": { text: "fund=false\n" } };
  expect(npm.words(files, "package-lock.json")).toEqual([
    { path: "package-lock.json", text: "entries: 1" },
    { path: ".npmrc", text: "fund=false\n" },
  ]);
  expect(npm.words({ "package-lock.json": { text: "{" } }, "package-lock.json")).toEqual([
    { path: "package-lock.json", text: "entries: 0" },
  ]);
});
