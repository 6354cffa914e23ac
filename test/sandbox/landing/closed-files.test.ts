/**
 * Files that a command closes to their owner land like others, also where the kernel's user is not root and may not
 * read them as they are: in real processes of the product.
 */
import { chmodSync, existsSync, lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { handrail } from "../../support/command-line.ts";
import { commandOf, textsOf } from "../../support/mcp-result.ts";
import { givenTo, ORDINARY_USER_ID } from "../../support/other-user.ts";
import { makePlace } from "../../support/place.ts";
import { connectRpc } from "../../support/rpc-client.ts";

const own = process.geteuid?.() ?? 0;
const TEST_MS_MAX = 120_000;

/** A workspace of an ordinary user, with a file in it that is closed to that user, too. */
function userPlace(closed: string) {
  const made = makePlace();
  onTestFinished(made.remove);
  made.put(`workspace/${closed}`, "theirs\n");
  made.put("workspace/make.sh", "echo hi >CLAUDE.md; chmod 000 CLAUDE.md\n");
  made.put("workspace/remove.sh", "rm -f AGENTS.md\n");
  const place = own === 0 ? givenTo(made, ORDINARY_USER_ID) : made;
  const at = (path: string) => join(place.workspace, path);
  chmodSync(at(closed), 0);
  return { place, at };
}

const rightsOf = (path: string) => (lstatSync(path).mode & 0o7777).toString(8);

test("what a command closed to its owner lands with its rights and the rest of its work", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { place, at } = userPlace("taken");
  const agent = await connectRpc(place, ["--preset", "open"]);
  const run = async (command: string) => commandOf(await agent.call("shell", { command }));
  // The control: it is the rights that count, and the kernel's user cannot read such a file.
  expect(await run("echo 1 >f; chmod 000 f; cat f || echo closed")).toMatchObject({
    status: "success",
    data: { stdout: "closed\n" },
  });
  const command =
    "echo work >work; echo 2 >w; chmod 200 w; echo 3 >r; chmod 400 r; mkdir d; echo 4 >d/in; chmod 0 d/in";
  const { status, metadata } = await run(command);
  expect(status).toBe("success");
  expect(["work", "f", "w", "r", "d/in"].map((path) => rightsOf(at(path)))).toEqual(["644", "0", "200", "400", "0"]);
  const { stdout } = await handrail(place, ["ledger", "show", String(metadata.ledger_sequence), "--json"]);
  expect(stdout).toMatch(/"digest":"[0-9a-f]{64}","kind":"create","path":"d\/in"/u); // the record says what it holds
  for (const path of ["f", "w", "d/in"]) chmodSync(at(path), 0o600);
  expect(["work", "f", "w", "r", "d/in"].map((path) => readFileSync(at(path), "utf8"))).toEqual([
    "work\n",
    "1\n",
    "2\n",
    "3\n",
    "4\n",
  ]);
  // a file that is as large as one that goes may be the same, and is compared with it
  expect((await run("rm -f taken; echo theirz >other")).status).toBe("success");
  expect([existsSync(at("taken")), existsSync(at("other"))]).toEqual([false, true]);
});

test("a person is asked about a closed file like about others, and one of the workspace keeps its rights", {
  timeout: TEST_MS_MAX,
}, async () => {
  const { place, at } = userPlace("AGENTS.md");
  const agent = await connectRpc(place);
  const before = lstatSync(at("AGENTS.md"), { bigint: true }).ctimeNs;
  for (const script of ["make.sh", "remove.sh"]) {
    const answer = await agent.call("shell", { command: `sh ${script}` });
    expect([script, textsOf(answer).join()]).toEqual([script, expect.stringContaining("tool_approval_required")]);
  }
  expect([rightsOf(at("AGENTS.md")), lstatSync(at("AGENTS.md"), { bigint: true }).ctimeNs]).toEqual(["0", before]);
});
