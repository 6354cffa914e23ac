// What belongs to the installation that is running, and how a workspace stands to it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseMounts } from "../../../src/base/mount-info.ts";
import { installationPaths, pathsOf, placeInInstallation } from "../../../src/server/workspace/installation.ts";
import { pathsWithin } from "../../../src/server/workspace/mounted-places.ts";

let place: string;
beforeAll(() => {
  place = realpathSync(mkdtempSync(join(tmpdir(), "handrail-installation-")));
  for (const directory of [
    "pkg/src/server/workspace",
    "pkg/.toolchain/program-1",
    "app/dist",
    "project/node_modules/handrail/src/server/workspace",
    "cache",
  ])
    mkdirSync(join(place, directory), { recursive: true });
  for (const root of ["pkg", "project/node_modules/handrail"])
    writeFileSync(join(place, root, "package.json"), '{"name":"handrail"}');
  writeFileSync(join(place, "package.json"), '{"name":"somebody-elses"}');
  writeFileSync(join(place, "node"), "");
  symlinkSync(join(place, "pkg"), join(place, "link"));
});
afterAll(() => rmSync(place, { recursive: true }));

const at = (...names: readonly string[]) => names.map((name) => join(place, name));

test("it is the package, by its real path, with the sources or the compiled program in it, and the Node that runs it", () => {
  for (const module of ["pkg/src/server/workspace", "link/src/server/workspace", "pkg/.toolchain/program-1"])
    expect(pathsOf(join(place, module), join(place, "node"), []), module).toEqual(at("pkg", "node"));
});

test("compiled code that is kept belongs to it, because Node runs it in place of the sources", () => {
  expect(
    pathsOf(join(place, "pkg/src/server/workspace"), join(place, "node"), [join(place, "cache"), undefined, ""]),
  ).toEqual(at("pkg", "node", "cache"));
});

test("of an installed package it is all packages, which it loads its own from", () => {
  expect(pathsOf(join(place, "project/node_modules/handrail/src/server/workspace"), join(place, "node"), [])).toEqual(
    at("project/node_modules", "node"),
  );
});

test("a program that bundles Handrail is its own directory, and not what lies two above", () => {
  expect(pathsOf(join(place, "app/dist"), join(place, "node"), [])).toEqual(at("app/dist", "node"));
});

test("a workspace lies in it, holds it, or is apart", () => {
  const paths = ["/opt/handrail", "/usr/bin/node"];
  expect(placeInInstallation("/opt/handrail", paths)).toBe("inside");
  expect(placeInInstallation("/opt/handrail/examples/service", paths)).toBe("inside");
  expect(placeInInstallation("/opt", paths)).toBe("holds");
  expect(placeInInstallation("/opt/handrails", paths)).toBe("apart");
  expect(installationPaths()).toContain(realpathSync(process.cwd()));
});

test("a workspace that is a mount of the installation, of a part of it or of what holds it, is known as such", () => {
  const mounts = (...lines: readonly string[]) =>
    ["20 1 8:1 / / rw - ext4 /dev/a rw", ...lines.map((line) => `21 20 ${line} rw - ext4 /dev/a rw`)].join("\n");
  const stands = (mountInfo: string, workspace = "/w") =>
    placeInInstallation(workspace, ["/opt/handrail"], parseMounts(mountInfo));
  expect(stands(mounts())).toBe("apart");
  expect(stands(mounts("8:1 /opt/handrail /w"))).toBe("inside");
  expect(stands(mounts("8:1 /opt/handrail /w"), "/w/src")).toBe("inside");
  expect(stands(mounts("8:1 /opt/handrail/src /w"))).toBe("inside");
  expect(stands(mounts("8:1 /opt /w"))).toBe("holds");
  expect(stands(mounts("8:1 /opt/other /w"))).toBe("apart");
  // the same path of another file system
  expect(stands(mounts("8:2 /opt/handrail /w"))).toBe("apart");
  expect(stands(mounts("8:2 / /opt", "8:2 /handrail /w"))).toBe("inside");
  // what lies below another mount at the same place counts for nothing
  expect(stands(mounts("8:1 /opt/handrail /w", "8:2 /opt/handrail /w"))).toBe("apart");
  expect(stands(mounts("8:1 /opt/hand\\040rail /w"))).toBe("apart");
});

test("what of the installation is mounted in a directory is found there, whatever name it has", () => {
  const mountsOf = (...lines: readonly string[]) =>
    parseMounts(
      ["20 1 8:1 / / rw - ext4 /dev/a rw", ...lines.map((line) => `21 20 ${line} rw - ext4 /dev/a rw`)].join("\n"),
    );
  const found = (...lines: readonly string[]) =>
    pathsWithin("/w", ["/opt/handrail", "/usr/bin/node"], mountsOf(...lines));
  expect(found()).toEqual([]);
  expect(found("8:1 /opt/handrail /w/in")).toEqual(["in"]);
  expect(found("8:1 /opt/handrail/src /w/deep/in")).toEqual(["deep/in"]);
  expect(found("8:1 /opt /w/in", "8:1 /usr /w/usr")).toEqual(["in/handrail", "usr/bin/node"]);
  expect(found("8:1 / /w")).toEqual(["opt/handrail", "usr/bin/node"]);
  expect(found("8:1 /opt/handrail/src /w")).toEqual([""]);
  // a part of the installation that is a file system of its own
  expect(found("8:3 / /opt/handrail/node_modules", "8:3 /pkg /w/pkg")).toEqual(["pkg"]);
  // a file by itself
  expect(found("8:1 /usr/bin/node /w/tool")).toEqual(["tool"]);
  expect(found("8:1 /opt/other /w/in", "8:2 /opt/handrail /w/same", "8:1 /opt/handrails /w/like")).toEqual([]);
  expect(pathsWithin("/opt", ["/opt/handrail"], mountsOf())).toEqual(["handrail"]);
});
