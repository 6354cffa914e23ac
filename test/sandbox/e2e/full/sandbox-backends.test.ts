// Which sandbox commands get is the operator's word, and having none takes two: as users of the command line meet it,
// with what the ledger says of it.
import { chmodSync, cpSync } from "node:fs";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { dataIn, handrail, oneJsonLine } from "../../../support/command-line.ts";
import { overContainers } from "../../../support/over-containers.ts";
import { freshPlace, type Place } from "../../../support/place.ts";

const FLAG = "--allow-unsandboxed-commands";
const TEST_MS_MAX = 60_000;

function servicePlace(settings: string): Place {
  const place = freshPlace();
  chmodSync(place.base, 0o755);
  cpSync("examples/service", place.workspace, { recursive: true });
  place.put("config/handrail.yaml", settings);
  return place;
}

async function tested(place: Place, ...more: readonly string[]) {
  const { code, stdout, stderr } = await handrail(place, [
    "call",
    "run_test",
    "--json",
    "{}",
    "--workspace",
    place.workspace,
    ...more,
  ]);
  return { code, stderr, result: oneJsonLine<JsonObject>(stdout) };
}

/** What the ledger says of how commands were contained. */
async function recorded(place: Place): Promise<readonly unknown[]> {
  const { stdout } = await handrail(place, ["ledger", "tail", "-n", "100", "--json"]);
  return dataIn<{ payload: JsonObject }[]>(stdout).flatMap(({ payload }) => payload["sandbox"] ?? []);
}

await overContainers(async () => {
  test("the service's tests pass in a container, which its record names", { timeout: TEST_MS_MAX }, async () => {
    const place = servicePlace("sandbox:\n  backend: container\n");
    const { code, result } = await tested(place);
    expect([code, result]).toEqual([
      0,
      expect.objectContaining({ data: expect.objectContaining({ passed: true, command: "npm test" }) }),
    ]);
    const seccomp = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(await recorded(place)).toEqual([
      expect.objectContaining({ backend: "container", network: "none", seccomp }),
    ]);
  });
});

test("none without the flag is refused, whatever a tool demands", { timeout: TEST_MS_MAX }, async () => {
  const place = servicePlace("sandbox:\n  backend: none\ncapabilities:\n  run_test:\n    sandbox: none\n");
  const { code, stderr, result } = await tested(place);
  expect([code, result["error"]]).toEqual([
    3,
    expect.objectContaining({ code: "SANDBOX_UNAVAILABLE", message: expect.stringContaining(FLAG) }),
  ]);
  expect(stderr).toContain("commands are refused");
  expect(await recorded(place)).toEqual([]);
});

test("none with the flag is refused to a tool that demands a sandbox", { timeout: TEST_MS_MAX }, async () => {
  const place = servicePlace("sandbox:\n  backend: none\n");
  const { code, stderr, result } = await tested(place, FLAG);
  expect([code, result["error"]]).toEqual([
    3,
    expect.objectContaining({ code: "SANDBOX_UNAVAILABLE", message: expect.stringContaining("`sandbox: container`") }),
  ]);
  expect(stderr).toContain("COMMANDS ARE NOT SANDBOXED");
});

test("none runs a command that all three words allow, loudly, and its record says so", {
  timeout: TEST_MS_MAX,
}, async () => {
  const place = servicePlace("sandbox:\n  backend: none\ncapabilities:\n  run_test:\n    sandbox: none\n");
  const { code, stderr, result } = await tested(place, FLAG);
  expect([code, result]).toEqual([0, expect.objectContaining({ data: expect.objectContaining({ passed: true }) })]);
  expect(stderr).toMatch(/^handrail: COMMANDS ARE NOT SANDBOXED: /m);
  const own = process.geteuid?.() ?? 0;
  expect(await recorded(place)).toEqual([
    expect.objectContaining({ backend: "none", namespaces: [], network: "host", userId: own }),
  ]);
  const doctor = await handrail(place, ["doctor"]);
  expect(doctor.stdout).toMatch(/^advisory +sandbox +`none` is in force: nothing keeps commands from/m);
});

test("the flag alone changes nothing, and says so", { timeout: TEST_MS_MAX }, async () => {
  const place = servicePlace("");
  const { code, stderr } = await tested(place, FLAG);
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining(`${FLAG} changes nothing: \`sandbox.backend\` is \`bwrap\``),
  ]);
  expect(await recorded(place)).toEqual([expect.objectContaining({ backend: "bwrap" })]);
});

test("a backend that is not known is refused before anything starts", { timeout: TEST_MS_MAX }, async () => {
  const place = servicePlace("sandbox:\n  backend: docker\n");
  const { code, stderr } = await handrail(place, ["call", "run_test", "--json", "{}", "--workspace", place.workspace]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/handrail\.yaml.*sandbox\.backend/s)]);
});
