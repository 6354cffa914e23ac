// Trust: pinned by the operator, outside every workspace, for the very bytes; whatever else stands there only narrows.
import { chmodSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import type { Session } from "../../../src/model/people/session.ts";
import { readOperatorDirectory } from "../../../src/server/operator/operator-directory.ts";
import { TrustDesk } from "../../../src/server/workspace/trust.ts";
import { createWorkspaceCatalog } from "../../../src/server/workspace/workspace-catalog.ts";
import { MemoryLedger } from "../../support/memory-kernel.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const START_MS = Date.UTC(2026, 0, 1);
let place: Place;
let service: string;
beforeEach(() => {
  place = freshPlace();
  service = join(place.workspace, "service");
  place.put("workspace/service/handrail.yaml", "files: { shared: [libs], secret: [keys] }\n");
  place.put("workspace/libs/a.ts", "a");
});

function deskOf(ledger = new MemoryLedger()) {
  const clock = { nowMs: () => START_MS, monotonicMs: () => 0 };
  return { ledger, desk: new TrustDesk({ operatorPath: place.config, ledger, clock, random: systemRandom }) };
}

const sessionOf = (serviceRoot = service): Session => ({
  id: "ses_test",
  tokenHash: "",
  userId: "u",
  agentId: "a",
  role: "dev",
  serviceRoot,
  projectRoot: place.workspace,
  isolationLevel: "STRICT",
  leaseId: "lea_test",
  mode: "default",
  preset: "dev",
  createdAtMs: 0,
  expiresAtMs: 1,
});

/** Directories that the workspace shares, and the zone of `keys`, as a kernel that starts now sees them. */
async function seen(serviceRoot = service) {
  const operator = await readOperatorDirectory(place.config);
  const catalog = createWorkspaceCatalog(() => operator, [place.config]);
  onTestFinished(() => catalog.close());
  const { workspace } = await catalog.open(sessionOf(serviceRoot));
  return {
    widened: workspace.sharedPaths.includes("libs"),
    keys: workspace.zones.classify({ root: "service", path: "keys" }),
  };
}

const NARROW = { widened: false, keys: "secret" };
const WIDE = { widened: true, keys: "secret" };

describe("an untrusted workspace", () => {
  test("narrows and does not widen; trusted, it does both", async () => {
    expect(await seen()).toEqual(NARROW);
    const { desk, ledger } = deskOf();
    const report = await desk.trust(service, "ada");
    expect(report).toMatchObject({ workspace: service, state: "trusted", widens: ["files.shared"], trustedBy: "ada" });
    expect(await seen()).toEqual(WIDE);
    expect(ledger.events.map(({ type, payload, durability }) => [type, payload, durability])).toEqual([
      [
        "workspace_trusted",
        { workspace: service, files: report.files, widens: ["files.shared"], by: "ada" },
        "durable",
      ],
    ]);
  });

  test("is trusted by the operator's own files alone: a pin of others, or one that others can write, is refused", async () => {
    await deskOf().desk.trust(service, "ada");
    const directory = join(place.config, "trust");
    const [name = ""] = readdirSync(directory);
    expect([statSync(directory).mode & 0o777, statSync(join(directory, name)).mode & 0o777]).toEqual([0o700, 0o600]);
    chmodSync(join(directory, name), 0o666);
    await expect(seen()).rejects.toThrow(/can be written by others/);
    chmodSync(join(directory, name), 0o600);
    renameSync(join(directory, name), join(directory, `${"0".repeat(64)}.json`));
    await expect(seen()).rejects.toThrow(/does not belong to the workspace/);
  });
});

describe("a trusted workspace is untrusted again", () => {
  beforeEach(async () => {
    await deskOf().desk.trust(service, "ada");
    expect(await seen()).toEqual(WIDE); // control
  });

  test("when its file is changed, and trusted again when it is as it was", async () => {
    const was = "files: { shared: [libs], secret: [keys] }\n";
    writeFileSync(join(service, "handrail.yaml"), `${was}# checked out\n`);
    expect(await seen()).toEqual(NARROW);
    expect(await deskOf().desk.list()).toMatchObject([{ workspace: service, state: "changed" }]);
    writeFileSync(join(service, "handrail.yaml"), was);
    expect(await seen()).toEqual(WIDE);
  });

  test("when another directory takes its place", async () => {
    renameSync(service, `${service}.old`);
    mkdirSync(service);
    writeFileSync(join(service, "handrail.yaml"), "files: { shared: [libs, more], secret: [keys] }\n");
    expect(await seen()).toEqual(NARROW);
  });

  test("and closed when its file is a link, whatever it leads to", async () => {
    renameSync(join(service, "handrail.yaml"), join(service, "real.yaml"));
    symlinkSync("real.yaml", join(service, "handrail.yaml"));
    await expect(seen()).rejects.toMatchObject({ code: "WORKSPACE_INVALID" });
    await expect(deskOf().desk.trust(service, "ada")).rejects.toMatchObject({ code: "WORKSPACE_INVALID" });
    expect(await deskOf().desk.list()).toMatchObject([{ state: "unreadable" }]);
  });

  test("under the path of another workspace, also with the same file", async () => {
    const other = join(place.workspace, "other");
    mkdirSync(other);
    writeFileSync(join(other, "handrail.yaml"), "files: { shared: [libs], secret: [keys] }\n");
    expect(await seen(other)).toEqual(NARROW);
  });

  test("when trust is taken back, also of a workspace that is gone", async () => {
    const { desk, ledger } = deskOf();
    await desk.revoke(service, "ada");
    expect(await seen()).toEqual(NARROW);
    expect(ledger.types()).toEqual(["workspace_trust_revoked"]);
    await expect(desk.revoke(service, "ada")).rejects.toMatchObject({ code: "USAGE" });
    await desk.trust(service, "ada");
    rmSync(service, { recursive: true });
    expect(await desk.list()).toMatchObject([{ state: "changed" }]);
    await desk.revoke(service, "ada");
    expect(await desk.list()).toEqual([]);
  });
});

test("trust that cannot be recorded is not given", async () => {
  const ledger = new MemoryLedger();
  ledger.breakFor(() => true);
  await expect(deskOf(ledger).desk.trust(service, "ada")).rejects.toMatchObject({ code: "LEDGER_UNAVAILABLE" });
  expect(await seen()).toEqual(NARROW);
});

test("a workspace without a configuration of its own has nothing to trust", async () => {
  rmSync(join(service, "handrail.yaml"));
  await expect(deskOf().desk.trust(service, "ada")).rejects.toThrow(/nothing to trust/);
});

test("a directory of pins that is a link is refused", async () => {
  mkdirSync(join(place.workspace, "pins"), { mode: 0o700 });
  symlinkSync(join(place.workspace, "pins"), join(place.config, "trust"));
  await expect(deskOf().desk.trust(service, "ada")).rejects.toThrow(/no link/);
});

test("a running kernel sees a changed file with its next look, and keeps what was opened until then", async () => {
  await deskOf().desk.trust(service, "ada");
  const operator = await readOperatorDirectory(place.config);
  const catalog = createWorkspaceCatalog(() => operator, [place.config]);
  onTestFinished(() => catalog.close());
  const first = await catalog.open(sessionOf());
  await catalog.refresh();
  expect(await catalog.open(sessionOf())).toBe(first);
  writeFileSync(join(service, "handrail.yaml"), "files: { shared: [libs, more] }\n");
  expect(await catalog.open(sessionOf())).toBe(first);
  await catalog.refresh();
  const second = await catalog.open(sessionOf());
  expect([first.workspace.sharedPaths.includes("libs"), second.workspace.sharedPaths.includes("libs")]).toEqual([
    true,
    false,
  ]);
  expect(second.rules).not.toBe(first.rules);
});
