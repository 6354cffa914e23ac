/** Secrets that the desktop's own keyring keeps: a real one, on a bus of the test's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { filesWith } from "../../support/canary.ts";
import { environmentOf, handrail, linesOf } from "../../support/command-line.ts";
import { freshPlace, type Place } from "../../support/place.ts";

const FIRST = "first-value-that-nobody-sees";
const SECOND = "second-value-that-nobody-sees";

/** The address of a bus on which an open keyring answers. */
async function keyringBus(place: Place): Promise<string> {
  const script =
    'printf word | gnome-keyring-daemon --unlock --components=secrets >/dev/null && echo "$DBUS_SESSION_BUS_ADDRESS" && cat';
  const session = spawn("dbus-run-session", ["--", "sh", "-c", script], {
    env: environmentOf(place),
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(async () => {
    const closed = once(session, "close");
    session.stdin.end();
    await closed;
  });
  const [address] = (await once(createInterface({ input: session.stdout }), "line")) as [string];
  return address;
}

test("a value goes into the keyring and is read there, changed and removed, and stands nowhere else", async () => {
  const place = freshPlace();
  const environment = { DBUS_SESSION_BUS_ADDRESS: await keyringBus(place) };
  const run = async (args: readonly string[], input = "") => {
    const { code, stdout, stderr } = await handrail(place, ["secrets", ...args], { environment, input });
    expect(`${stdout}${stderr}`).not.toMatch(/value-that-nobody-sees/);
    return { code, said: linesOf(stdout), problems: stderr };
  };
  const binding = ["--to", "api.example", "--in", "header Authorization"];
  expect((await run(["add", "API_KEY", "--from", "keyring", ...binding], FIRST)).code).toBe(0);
  expect((await run(["check"])).said.join()).toMatch(/ok\s+API_KEY\s+the keyring's entry/);
  expect((await run(["rotate", "API_KEY"], SECOND)).code).toBe(0);
  expect((await run(["check"])).said.join()).toMatch(/ok\s+API_KEY/);
  expect(filesWith(place.base, [FIRST, SECOND])).toEqual([]);
  expect((await run(["rm", "API_KEY"])).code).toBe(0);
  expect((await run(["check"])).said.join()).not.toContain("API_KEY");
  // control: what a file holds is found
  expect(filesWith(place.base, ["sessions"]).length).toBeGreaterThan(0);
});
