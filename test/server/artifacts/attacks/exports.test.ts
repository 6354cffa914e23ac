/** Attacks on exports: places that are taken, links, altered and added files, lost documents, two at once. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { exportArtifacts } from "../../../../src/server/artifacts/export-artifacts.ts";
import { verifyArtifacts } from "../../../../src/server/artifacts/verify-artifacts.ts";
import { evidencePlace } from "../../../support/evidence-place.ts";
import { freshDirectory } from "../../../support/store-place.ts";

const SIGNAL = new AbortController().signal;

async function exportTo(stateDirectory: string, directory: string) {
  return exportArtifacts({ stateDirectory, directory, naming: "handrail", signal: SIGNAL });
}

test("a file, a link and a directory with something in it stay as they are", async () => {
  const place = await evidencePlace();
  const outside = await freshDirectory();
  mkdirSync(join(outside, "full"));
  writeFileSync(join(outside, "full", "mine"), "mine");
  writeFileSync(join(outside, "file"), "mine");
  mkdirSync(join(outside, "empty"));
  symlinkSync("empty", join(outside, "link"));
  symlinkSync("nowhere", join(outside, "dangling"));
  for (const name of ["full", "file", "link", "dangling", "missing/below"])
    await expect(exportTo(place.state, join(outside, name))).rejects.toMatchObject({ code: "USAGE" });
  expect(readdirSync(join(outside, "empty"))).toEqual([]);
  expect(readdirSync(outside).sort()).toEqual(["dangling", "empty", "file", "full", "link"]);
  expect(readFileSync(join(outside, "file"), "utf8")).toBe("mine");
  await exportTo(place.state, join(outside, "empty")); // control: an empty directory is free
  expect(existsSync(join(outside, "empty", "manifest.json"))).toBe(true);
});

test("of two exports at once into one directory one is there as a whole", async () => {
  const place = await evidencePlace();
  const parent = await freshDirectory();
  const directory = join(parent, "evidence");
  const both = await Promise.allSettled([exportTo(place.state, directory), exportTo(place.state, directory)]);
  expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  expect((await verifyArtifacts(directory)).ok).toBe(true);
  expect(readdirSync(parent)).toEqual(["evidence"]);
});

test("an export that is interrupted leaves nothing", async () => {
  const place = await evidencePlace();
  const parent = await freshDirectory();
  const abort = new AbortController();
  const exporting = exportArtifacts({
    stateDirectory: place.state,
    directory: join(parent, "evidence"),
    naming: "handrail",
    signal: abort.signal,
    onProgress: (documents) => documents === 5 && abort.abort(new Error("interrupted")),
  });
  await expect(exporting).rejects.toThrow("interrupted");
  expect(readdirSync(parent)).toEqual([]);
});

test("a document that is lost or altered in the store is no part of an export: there is none", async () => {
  const place = await evidencePlace();
  const parent = await freshDirectory();
  for (const change of ["UPDATE documents SET bytes = CAST('{}' AS BLOB) WHERE number = 3", "DELETE FROM objects"]) {
    const database = new Sqlite(join(place.state, "content.db"));
    database.exec(change);
    database.close();
    await expect(exportTo(place.state, join(parent, "evidence"))).rejects.toMatchObject({
      code: "STORE_CORRUPT",
      message: expect.stringMatching(/entry \d+ of the ledger names, is lost or altered, and nothing was exported/),
    });
    expect(readdirSync(parent)).toEqual([]);
  }
});

test("every change of an exported file is found", async () => {
  const place = await evidencePlace();
  const parent = await freshDirectory();
  const first = (directory: string, folder: string) =>
    join(directory, folder, readdirSync(join(directory, folder))[0] ?? "");
  const changes: readonly (readonly [what: string, change: (directory: string) => void, found: RegExp])[] = [
    ["nothing", () => undefined, /^$/],
    [
      "one letter of an output",
      (at) => {
        const path = first(at, "artifacts/tool_outputs");
        writeFileSync(
          path,
          readFileSync(path, "utf8").replace('"tool":"r', '"tool":"s').replace('"tool":"w', '"tool":"x'),
        );
      },
      /bytes do not fit its name/,
    ],
    ["a blank", (at) => writeFileSync(first(at, "artifacts/tool_calls"), " ", { flag: "a" }), /canonical form/],
    ["a cut", (at) => truncateSync(first(at, "artifacts/tool_inputs"), 10), /no JSON that can be read/],
    ["a missing input", (at) => rmSync(first(at, "artifacts/tool_inputs")), /`tool_input` names is missing/],
    ["a missing output", (at) => rmSync(first(at, "artifacts/tool_outputs")), /some are missing, added or changed/],
    ["a missing request", (at) => rmSync(first(at, "artifacts/approvals")), /`approval_ref` names is missing/],
    [
      "a refusal that became an approval",
      (at) => {
        const name = readdirSync(join(at, "approvals")).find((each) => each.includes(".denied.")) ?? "";
        copyFileSync(join(at, "approvals", name), join(at, "approvals", name.replace("denied", "approved")));
      },
      /does not say what its name says/,
    ],
    ["a file more", (at) => writeFileSync(join(at, "artifacts", "more.json"), "{}"), /belongs to no export/],
    [
      "a link",
      (at) => {
        const path = first(at, "artifacts/tool_outputs");
        copyFileSync(path, join(at, "..", "copy"));
        rmSync(path);
        symlinkSync(join(at, "..", "copy"), path);
      },
      /cannot be read \(ELOOP\)/,
    ],
    [
      "a call among the outputs",
      (at) => {
        const path = first(at, "artifacts/tool_calls");
        copyFileSync(path, path.replace("tool_calls", "tool_outputs"));
      },
      /its schema is not `handrail.tool_output.v1`/,
    ],
    ["no manifest", (at) => rmSync(join(at, "manifest.json")), /manifest.json.*ENOENT/],
  ];
  for (const [what, change, expected] of changes) {
    const directory = join(parent, what);
    await exportTo(place.state, directory);
    change(directory);
    const { ok, problems } = await verifyArtifacts(directory);
    expect({ what, ok }).toEqual({ what, ok: what === "nothing" });
    expect(problems.map(({ path, problem }) => `${path}: ${problem}`).join("\n")).toMatch(expected);
  }
});

test("what is no directory is no export", async () => {
  const parent = await freshDirectory();
  writeFileSync(join(parent, "file"), "{}");
  symlinkSync(".", join(parent, "link"));
  for (const name of ["file", "link", "missing"])
    await expect(verifyArtifacts(join(parent, name))).rejects.toMatchObject({ code: "USAGE" });
});
