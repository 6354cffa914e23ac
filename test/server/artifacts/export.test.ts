/** Exports of documents: what lies where, in whose identifiers, and that the same ledger gives the same bytes. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { blake3Hex } from "../../../src/base/hash.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import { type ExportWish, exportArtifacts } from "../../../src/server/artifacts/export-artifacts.ts";
import { verifyArtifacts } from "../../../src/server/artifacts/verify-artifacts.ts";
import { verifyContent } from "../../../src/server/ledger/content-verification.ts";
import { evidencePlace } from "../../support/evidence-place.ts";
import { freshDirectory } from "../../support/store-place.ts";

const SIGNAL = new AbortController().signal;

/** The files below a directory, with what stands in them. */
function filesIn(root: string): Readonly<Record<string, string>> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map(({ parentPath, name }) => join(parentPath, name))
      .sort()
      .map((path) => [relative(root, path), readFileSync(path, "utf8")]),
  );
}

async function exported(wish: Omit<ExportWish, "directory" | "signal" | "naming"> & Partial<ExportWish>) {
  const directory = join(await freshDirectory(), "evidence");
  const report = await exportArtifacts({ directory, naming: "handrail", signal: SIGNAL, ...wish });
  return { directory, report, files: filesIn(directory) };
}

const namesIn = (files: Readonly<Record<string, string>>, folder: string) =>
  Object.keys(files).filter((path) => path.startsWith(`${folder}/`));

test("all documents of a ledger are laid out, each under its own hash, and verify", async () => {
  const place = await evidencePlace();
  const { directory, report, files } = await exported({ stateDirectory: place.state });
  const { documents } = report;
  expect(documents).toEqual({
    outputs: 0,
    tool_inputs: 5, // both sessions have read the same two files; one has written a protected one, too
    tool_calls: 7,
    tool_outputs: 7,
    approvals: 2,
    decisions: 2,
  });
  for (const folder of ["tool_inputs", "tool_calls", "tool_outputs", "approvals"])
    for (const path of namesIn(files, `artifacts/${folder}`))
      expect(path).toBe(`artifacts/${folder}/${blake3Hex(files[path] ?? "")}.json`);
  const [approved, denied] = namesIn(files, "approvals").sort((left) => (left.includes("approved") ? -1 : 1));
  expect(approved).toMatch(/^approvals\/[0-9a-f]{64}\.approved\.json$/);
  expect(denied).toMatch(/^approvals\/[0-9a-f]{64}\.denied\.json$/);
  expect(existsSync(join(directory, "artifacts", "outputs"))).toBe(true);
  const verified = await verifyArtifacts(directory);
  expect(verified).toEqual({ ok: true, documents: 23, digest: report.digest, problems: [], problemsOmitted: 0 });
  expect((await verifyContent(place.state)).ok).toBe(true);
});

test("the same ledger gives the same bytes", async () => {
  const place = await evidencePlace();
  const [first, second] = [
    await exported({ stateDirectory: place.state }),
    await exported({ stateDirectory: place.state }),
  ];
  expect(second.files).toEqual(first.files);
  expect(second.report.digest).toBe(first.report.digest);
});

test("serverd's identifiers are written where serverd has one, and hashes and references follow", async () => {
  const place = await evidencePlace();
  const { directory, files } = await exported({ stateDirectory: place.state, naming: "serverd" });
  expect((await verifyArtifacts(directory)).ok).toBe(true);
  const valuesIn = (folder: string): readonly JsonObject[] =>
    namesIn(files, folder).map((path) => JSON.parse(files[path] ?? "") as JsonObject);
  const schemas = (folder: string) => [...new Set(valuesIn(folder).map(({ schema }) => schema))];
  expect(schemas("artifacts/tool_inputs")).toEqual(["handrail.tool_input.v1"]);
  expect(schemas("artifacts/tool_calls")).toEqual(["serverd.tool_call.v1"]);
  expect(schemas("artifacts/tool_outputs")).toEqual(["serverd.tool_output.v1"]);
  expect(schemas("artifacts/approvals")).toEqual(["serverd.tool_approval_request.v1"]);
  expect(schemas("approvals")).toEqual(["serverd.tool_approval.v1"]);
  for (const path of namesIn(files, "artifacts")) expect(path).toContain(blake3Hex(files[path] ?? ""));
  const approvedCall = valuesIn("artifacts/tool_calls").find((call) => call["approval_ref"] !== undefined);
  const hash = String(approvedCall?.["approval_ref"]).replace("blake3:", "");
  expect(Object.keys(files)).toContain(`artifacts/approvals/${hash}.json`);
  expect(Object.keys(files)).toContain(`approvals/${hash}.approved.json`);
});

test("the operator's tool specs and policy are written on request, in the identifiers that are wanted", async () => {
  const place = await evidencePlace();
  place.put(
    "config/tools/write_file.json",
    '{"schema":"serverd.tool_spec.v1", "id":"write_file", "requires_approval":true}',
  );
  place.put("config/policy.json", '{"schema":"handrail.tool_policy.v1","allowed_tools":["*"]}');
  place.put("config/modes/review.json", '{"tools":["read_file"]}');
  place.put("config/skills/docs.json", '{"tools":{"read_file":{}}}');
  for (const naming of ["handrail", "serverd"] as const) {
    const { directory, files } = await exported({ stateDirectory: place.state, toolsOf: place.config, naming });
    expect(namesIn(files, "tools")).toEqual(["tools/policy.json", "tools/write_file.json"]);
    expect(JSON.parse(files["tools/write_file.json"] ?? "")).toMatchObject({ schema: `${naming}.tool_spec.v1` });
    expect(JSON.parse(files["tools/policy.json"] ?? "")).toMatchObject({ schema: `${naming}.tool_policy.v1` });
    expect((await verifyArtifacts(directory)).ok).toBe(true);
    writeFileSync(join(directory, "tools/policy.json"), files["tools/write_file.json"] ?? "");
    expect((await verifyArtifacts(directory)).problems).toHaveLength(2);
  }
  place.put("config/policy.json", '{"schema":"handrail.tool_policy.v1","allowed":["*"]}');
  const broken = exported({ stateDirectory: place.state, toolsOf: place.config });
  await expect(broken).rejects.toMatchObject({ code: "USAGE" });
});

test("no export holds the one-time code of a request", async () => {
  const place = await evidencePlace();
  const { files } = await exported({ stateDirectory: place.state });
  const database = new Sqlite(join(place.state, "approvals.db"), { readonly: true });
  const codes = database.prepare<[], string>("SELECT code FROM approvals").pluck().all();
  database.close();
  expect(codes).toHaveLength(2);
  for (const code of codes) expect(Object.values(files).join("")).not.toContain(code);
});

test("one session's documents come with those that they name; another's do not", async () => {
  const place = await evidencePlace();
  const [first = "", second = ""] = place.sessions;
  const one = await exported({ stateDirectory: place.state, sessionId: first });
  const other = await exported({ stateDirectory: place.state, sessionId: second });
  expect((await verifyArtifacts(one.directory)).ok).toBe(true);
  expect(one.report.documents).toMatchObject({ tool_calls: 4, tool_outputs: 4, approvals: 1, decisions: 1 });
  expect(other.report.documents).toMatchObject({ tool_calls: 3, approvals: 1, decisions: 1 });
  expect(Object.values(one.files).join("")).not.toContain(second);
});

test("nothing was recorded since: the export is empty, and verifies", async () => {
  const place = await evidencePlace();
  const { directory, report } = await exported({ stateDirectory: place.state, sinceMs: Date.now() + 60_000 });
  expect(Object.values(report.documents)).toEqual([0, 0, 0, 0, 0, 0]);
  expect((await verifyArtifacts(directory)).ok).toBe(true);
});

test("where documents are off there are none, and of reads only on request", async () => {
  const off = await evidencePlace("off");
  expect((await exported({ stateDirectory: off.state })).report.documents).toMatchObject({
    tool_calls: 0,
    approvals: 0,
  });
  const effects = await evidencePlace("effects");
  const { report } = await exported({ stateDirectory: effects.state });
  expect(report.documents).toMatchObject({ tool_calls: 3, tool_outputs: 3, approvals: 2, decisions: 2 });
});
