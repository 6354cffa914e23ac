/**
 * What an installation leaves of the directories that were made for it: each `node_modules` costs every later command
 * mounts. A stand-in for npm fills them, fails, or waits until it is cancelled.
 */
import { chmodSync, existsSync, mkdirSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { ApprovalManager, createKernel } from "../../../../../src/index.ts";
import { Internet } from "../../../../support/egress.ts";
import { freshPlace } from "../../../../support/place.ts";

const FILLS = "touch node_modules/.package-lock.json one/node_modules/x";
const FAILS = "exit 1";
const WAITS = "sleep 600";

/** A workspace with the members `one` and `two`, each with a `node_modules` of its own. */
async function opened(npm: string) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  chmodSync(place.put("tools/bin/npm", `#!/bin/sh\n${npm}\n`), 0o755);
  for (const directory of ["", "tools", "tools/bin"]) chmodSync(join(place.base, directory), 0o755);
  const workspaces = [
    { path: place.workspace, toolchain: { install: { registries: { npm: ["registry.example:80"] } } } },
  ];
  const settings = {
    sandbox: { toolchains: [join(place.base, "tools")] },
    capabilities: { install_dependencies: { allowed_hosts: ["registry.example"] } },
    workspaces,
  };
  place.put("config/handrail.yaml", JSON.stringify(settings));
  const members = ["one", "two"];
  const packages = Object.fromEntries(
    members.flatMap((name) => {
      place.put(`workspace/${name}/package.json`, JSON.stringify({ name, version: "1.0.0" }));
      return [
        [name, { name, version: "1.0.0" }],
        [`node_modules/${name}`, { resolved: name, link: true }],
        [`${name}/node_modules/q`, { resolved: "one", link: true }],
      ];
    }),
  );
  const whole = { name: "x", version: "1.0.0" };
  place.put("workspace/package.json", JSON.stringify({ ...whole, workspaces: members }));
  const lock = {
    ...whole,
    lockfileVersion: 3,
    requires: true,
    packages: { "": { ...whole, workspaces: members }, ...packages },
  };
  place.put("workspace/package-lock.json", JSON.stringify(lock));
  const where = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const approvals = new ApprovalManager();
  approvals.setHandler({ request: async () => true }); // a session that has seen a registry's words asks
  const kernel = await createKernel({ ...where, approvals, network: internet.network });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  const install = async (signal?: AbortSignal) =>
    (await session.call("install_dependencies", { manager: "npm" }, signal && { signal })).result;
  const modules = ["node_modules", "one/node_modules", "two/node_modules"];
  const left = () => modules.filter((path) => existsSync(join(place.workspace, path)));
  return { place, session, install, left };
}

test("a directory that an installation has filled stays, and one that it left empty goes", async () => {
  const { install, left } = await opened(FILLS);
  expect(await install()).toMatchObject({ status: "success", data: { installed: true } });
  expect(left()).toEqual(["node_modules", "one/node_modules"]);
});

test("an installation that fails or is cancelled leaves none of the directories that were made for it", async () => {
  const failing = await opened(FAILS);
  expect(await failing.install()).toMatchObject({ data: { installed: false, exit_code: 1 } });
  expect(failing.left()).toEqual([]);

  const waiting = await opened(WAITS);
  const cancel = new AbortController();
  const installing = waiting.install(cancel.signal);
  while (waiting.left().length < 3) await pause(10); // the control: they are made before the command begins
  cancel.abort();
  expect(await installing).not.toMatchObject({ status: "success" });
  while (waiting.left().length > 0) await pause(10);
});

test("an installation is refused before which commands would need more than half of their mounts, and makes nothing", async () => {
  const { place, session, install, left } = await opened(FILLS);
  for (let index = 0; index < 700; index += 1)
    mkdirSync(join(place.workspace, `earlier/p${index}/node_modules`), { recursive: true });
  const refused = { code: "NOT_SUPPORTED", message: expect.stringMatching(/^with 3 more .* 140[0-9] mounts/) };
  expect(await install()).toMatchObject({ error: refused });
  expect(left()).toEqual([]);
  // the control: with fewer it runs, and so do other commands
  for (let index = 0; index < 600; index += 1) rmdirSync(join(place.workspace, `earlier/p${index}/node_modules`));
  expect(await install()).toMatchObject({ data: { exit_code: 0 } });
  expect((await session.call("shell", { command: "true" })).result).toMatchObject({ data: { exit_code: 0 } });
});
