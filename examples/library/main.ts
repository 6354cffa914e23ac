/** Handrail as a library: an allowed read, a refused one, and the evidence of both. Exits non-zero if it is not so. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createKernel } from "handrail";

const directory = mkdtempSync(join(tmpdir(), "handrail-library-"));
writeFileSync(join(directory, "notes.md"), "# Notes\n");
writeFileSync(join(directory, ".env"), "TOKEN=secret\n");
const state = mkdtempSync(join(tmpdir(), "handrail-state-"));

const kernel = await createKernel({ stateDirectory: state });
const session = await kernel.openSession({ workspace: directory, role: "dev" });

const allowed = await session.call("read_file", { path: "notes.md" });
assert.equal(allowed.response.outcome.kind, "success");
console.log("read notes.md:", JSON.stringify(allowed.result.data));

const denied = await session.call("read_file", { path: ".env" });
assert.equal(denied.response.outcome.kind, "denied");
console.log("read .env:", JSON.stringify(denied.result.error));

await kernel.close();
rmSync(directory, { recursive: true });
rmSync(state, { recursive: true });
