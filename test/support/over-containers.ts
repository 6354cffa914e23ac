/** Tests that hold for every sandbox, once more over containers. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { newSandboxPlace, useBackend } from "./sandbox-place.ts";

/**
 * Runs the tests that `load` loads. Where the user who runs them can have no containers, what is tested is that this is
 * said.
 */
export async function overContainers(load: () => Promise<unknown>): Promise<void> {
  useBackend("container");
  const given = spawnSync("unshare", ["--user", "--map-root-user", "--map-auto", "true"]).status === 0;
  if (process.geteuid?.() === 0 || given) {
    await load();
    return;
  }
  test("this user can have no containers, and is told so", async () => {
    const place = newSandboxPlace();
    await expect(place.run("true")).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
    place.close();
  });
}
