// State and configuration of other kernels in a workspace, and those of the user whatever a kernel was started with: no
// tool and no command sees them, or changes them for the kernel that uses them.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { createKernel } from "../../../../src/index.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const PERMIT = "permit(principal, action, resource);\n";
const TOKEN = `apr_ada.${"aB3-dE5_gH7xK9mN1pQ2rS4tU6vW8yZ0aB3-dE5_gH7".slice(0, 43)}`;

const SECRET = { status: "error", error: { rule_id: "ZONE:secret" } };

async function opened(place: Place, workspace: string, environment: Readonly<Record<string, string>> = {}) {
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home, ...environment },
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace, preset: "open" });
  return async (tool: string, args: JsonObject) => (await session.call(tool, args)).result;
}

/** A kernel that runs, with state and configuration in the workspace of another one. */
async function otherKernel(workspace: string) {
  const own = freshPlace();
  const [state, config] = [join(workspace, "state"), join(workspace, "config")];
  for (const directory of [state, config]) mkdirSync(directory, { mode: 0o700 });
  writeFileSync(join(config, "handrail.yaml"), "preset: dev\n", { mode: 0o600 });
  writeFileSync(join(config, "approver.token"), `${TOKEN}\n`, { mode: 0o600 });
  const call = await opened({ ...own, state, config }, own.workspace);
  expect((await call("list_files", { path: "." })).status).toBe("success");
  return { state, config, call };
}

test("another kernel's directories are neither seen nor changed", async () => {
  const place = freshPlace();
  const other = await otherKernel(place.workspace);
  mkdirSync(join(place.workspace, "plain"));
  const call = await opened(place, place.workspace);
  const refused = [
    await call("read_file", { path: "config/approver.token" }),
    await call("list_files", { path: "state" }),
    await call("write_file", { path: "config/policy/p.cedar", content: PERMIT }),
    await call("write_file", { path: "state/anchor", content: "x" }),
    await call("write_file", { path: "new/evidence.key", content: "x" }),
  ];
  for (const result of refused) expect(result).toMatchObject(SECRET);
  // the control: another directory is written, by the same names
  expect((await call("write_file", { path: "plain/policy/p.cedar", content: PERMIT })).status).toBe("success");

  const before = readdirSync(other.config, { recursive: true });
  // the anchor moves forward by itself: the chain that it names stays
  const chain = () => readFileSync(join(other.state, "anchor"), "latin1").split(" ")[2];
  const named = chain();
  expect(named).toMatch(/^[0-9a-f]{64}$/);
  const command =
    "cat config/* state/*; echo x >state/anchor; mkdir -p config/policy && echo x >config/policy/p.cedar; true";
  const ran = await call("shell", { command });
  expect(JSON.stringify(ran)).not.toContain("preset: dev");
  expect(readdirSync(other.config, { recursive: true })).toEqual(before);
  expect(chain()).toBe(named);
  expect((await other.call("list_files", { path: "." })).status).toBe("success");
});

test("a workspace in another kernel's directories is refused", async () => {
  const place = freshPlace();
  const { state, config } = await otherKernel(place.workspace);
  const views = join(state, "own");
  mkdirSync(views);
  for (const workspace of [state, views, config])
    expect(await (await opened(freshPlace(), workspace))("list_files", { path: "." })).toMatchObject({
      error: { rule_id: expect.stringMatching(/^CONFIG:/) },
    });
});

test("the user's directories are hidden from a kernel that was started with others", async () => {
  const place = freshPlace();
  const [state, config] = [join(place.workspace, "default-state"), join(place.workspace, "default-config")];
  for (const directory of [state, config]) mkdirSync(join(directory, "in"), { recursive: true });
  const call = await opened(place, place.workspace, { HANDRAIL_STATE_HOME: state, HANDRAIL_CONFIG_HOME: config });
  for (const path of ["default-state/x", "default-config/policy/x.cedar"])
    expect(await call("write_file", { path, content: "x" })).toMatchObject(SECRET);
  await call("shell", { command: "touch default-state/x default-config/x" });
  expect([existsSync(join(state, "x")), existsSync(join(config, "x"))]).toEqual([false, false]);
  // the control: without them it is an ordinary directory
  const free = await opened(freshPlace(), place.workspace);
  expect((await free("write_file", { path: "default-state/x", content: "x" })).status).toBe("success");
});
