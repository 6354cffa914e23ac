// However a command or its kernel ends, nothing of it is left: not what ignores being asked, and not what hides in
// sessions of its own. The control shows such a process outliving everybody where nothing contains it.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createKernel, type Kernel } from "../../../../src/index.ts";
import { startChild } from "../../../support/children/run.ts";
import { freshPlace } from "../../../support/place.ts";
import { newSandboxPlace, processesNaming, type SandboxPlace } from "../../../support/sandbox-place.ts";
import { comesTrue } from "../../../support/waiting.ts";

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

let commands = 0;

/**
 * A command that leaves a deaf process in a session of its own, another below that, says `up`, and is deaf itself; and
 * the word that names all of them.
 */
function lasting(): { readonly word: string; readonly command: string } {
  commands += 1;
  const word = `31.${process.pid}${commands}`;
  const deaf = `trap '' TERM HUP INT; sleep ${word} & wait`;
  return {
    word,
    command: `setsid bash -c "setsid bash -c \\"${deaf}\\" & ${deaf}" & trap '' TERM HUP INT; echo up; sleep ${word}; sleep ${word}`,
  };
}

function isGone(word: string): Promise<boolean> {
  return comesTrue(() => processesNaming(word).length === 0);
}

async function hasBegun(word: string): Promise<void> {
  expect(await comesTrue(() => processesNaming(`sleep ${word}`).length >= 3)).toBe(true);
}

test("the control: uncontained, the processes outlive the one that started them", async () => {
  const { word, command } = lasting();
  const shell = spawn("bash", ["-c", command], { cwd: place.root, stdio: "ignore" });
  await hasBegun(word);
  shell.kill("SIGKILL");
  await once(shell, "exit");
  await new Promise((resolve) => setTimeout(resolve, 200));
  const left = processesNaming(word).map(Number);
  expect(left.length).toBeGreaterThan(2);
  for (const id of left) spawnSync("kill", ["-KILL", String(id)]);
  expect(await isGone(word)).toBe(true);
});

test("after its time", async () => {
  const { word, command } = lasting();
  const { end, stdout } = await place.run(command, { limits: { timeoutMs: 6000 } });
  expect([end.endedBy, stdout, processesNaming(word)]).toEqual(["timeout", "up\n", []]);
});

test("when it is cancelled", async () => {
  const { word, command } = lasting();
  const cancelling = new AbortController();
  const running = place.run(command, { signal: cancelling.signal });
  await hasBegun(word);
  cancelling.abort();
  expect([(await running).end.endedBy, processesNaming(word)]).toEqual(["cancelled", []]);
});

describe("of a whole kernel", () => {
  /** A call of `shell` that runs until something ends it. */
  async function shellRunning() {
    const own = freshPlace();
    own.put("config/handrail.yaml", "preset: open\n");
    const kernel = await createKernel({ stateDirectory: own.state, configDirectory: own.config, environment: {} });
    const session = await kernel.openSession({ workspace: own.workspace });
    const { word, command } = lasting();
    const running = session.call("shell", { command });
    running.catch(() => undefined); // looked at below
    await hasBegun(word);
    return { kernel, running, word };
  }
  const close = (kernel: Kernel) => kernel[Symbol.asyncDispose]();

  test("when everybody is frozen", async () => {
    const { kernel, running, word } = await shellRunning();
    await kernel.freezes.kill({ scope: "all" }, { by: "test", reason: "" });
    const { response } = await running;
    // what it has done stands, and is answered
    expect([response.outcome, processesNaming(word)]).toMatchObject([
      { kind: "success", data: { ended_by: "cancelled" } },
      [],
    ]);
    await close(kernel);
  });

  test("when the kernel is closed", async () => {
    const { kernel, running, word } = await shellRunning();
    await close(kernel);
    expect(processesNaming(word)).toEqual([]);
    expect((await running).response.outcome).toMatchObject({ kind: "success", data: { ended_by: "cancelled" } });
  });
});

test.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGABRT"] as const)("when %s ends its kernel", async (signal) => {
  const { word, command } = lasting();
  const child = startChild("sandbox-run", [place.root, command]);
  await child.printed("said up");
  await hasBegun(word);
  child.process.kill(signal);
  await child.ended;
  expect(await isGone(word)).toBe(true);
});
