// Many runs in one kernel: what each of them would leave adds up.
import { afterEach, beforeEach, expect, test } from "vitest";
import { startChild } from "../../../support/children/run.ts";
import { newSandboxPlace, type SandboxPlace } from "../../../support/sandbox-place.ts";
import { searching } from "../../../support/thorough.ts";

const RUNS = searching({ shortly: 40, thoroughly: 200 });

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
});
afterEach(() => place.close());

test("many runs leave no descriptor, no process and nothing that is waited for", async () => {
  const child = startChild("sandbox-run", [place.root, "echo hi; echo oops >&2", String(RUNS), "own"]);
  const before = await child.printed("before ");
  expect((await child.printed("after ")).slice("after ".length)).toBe(before.slice("before ".length));
  expect(await child.ended).toBe("0");
});
