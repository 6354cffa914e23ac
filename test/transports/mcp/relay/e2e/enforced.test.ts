// The enforced mode: the kernel runs under one user, the agent under another, who reaches tools and nothing else.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handrail, startHandrail } from "../../../../support/command-line.ts";
import { initialize, type Line, legacy } from "../../../../support/mcp-connection.ts";
import { givenTo, ORDINARY_USER_ID } from "../../../../support/other-user.ts";
import { freshPlace } from "../../../../support/place.ts";

const AGENT = ORDINARY_USER_ID + 1;
const TIME_MS = 300_000;

/** The exit code of `command` under a user. */
function codeAs(user: number, command: readonly string[]): number {
  try {
    const become = ["--reuid", String(user), "--regid", String(user), "--clear-groups", "--"];
    execFileSync("setpriv", [...become, ...command], { stdio: "pipe" });
    return 0;
  } catch (error) {
    return (error as { readonly status?: number }).status ?? -1;
  }
}

test("the agent's user calls tools, and reaches neither state nor approvals", { timeout: TIME_MS }, async () => {
  if (process.getuid?.() !== 0) return; // only root becomes another user
  const kernel = givenTo(freshPlace(), ORDINARY_USER_ID);
  const agent = givenTo(freshPlace(), AGENT);
  writeFileSync(join(kernel.workspace, "one.txt"), "first line\n");
  chownSync(join(kernel.workspace, "one.txt"), ORDINARY_USER_ID, ORDINARY_USER_ID);
  const server = startHandrail(kernel, ["serve", "--http-socket", "--http", "127.0.0.1:0"]);
  const said = await new Promise<string>((resolve, reject) => {
    let text = "";
    server.stderr.on("data", (part: Buffer) => {
      text += part.toString();
      if (/at http:\/\/127\.0\.0\.1:\d+/.test(text)) resolve(text);
    });
    server.once("close", () => reject(new Error(`the kernel ended: ${text}`)));
  });
  const address = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "";
  const made = await handrail(kernel, ["sessions", "create", "--workspace", kernel.workspace, "--json"]);
  const { token } = (JSON.parse(made.stdout) as { readonly data: { readonly token: string } }).data;
  const file = join(agent.home, "session");
  writeFileSync(file, `${token}\n`, { mode: 0o400 });
  chownSync(file, AGENT, AGENT);

  // Its tools work, over a relay that runs as the agent's own user.
  const write = { name: "write_file", arguments: { path: "CLAUDE.md", content: "be careful\n" } };
  const lines = [
    initialize(),
    legacy(1, "tools/call", { name: "read_file", arguments: { path: "one.txt" } }),
    legacy(2, "tools/call", write),
  ];
  const relayed = await handrail(agent, ["mcp", "--connect", address, "--session", `@${file}`], {
    input: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  expect(relayed.stderr).toBe("");
  const answers = relayed.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line & { readonly result?: { readonly content: readonly object[] } });
  expect(answers.find(({ id }) => id === 1)).toMatchObject({ result: { content: [{ text: "first line\n" }] } });
  // What asks a person is refused: nobody has approved it, and the agent is nobody who can.
  expect(answers.find(({ id }) => id === 2)).toMatchObject({ result: { isError: true } });

  // A token that others of the machine could take is said to be one.
  chmodSync(file, 0o444);
  const open = await handrail(agent, ["mcp", "--connect", address, "--session", `@${file}`], { input: "" });
  expect(open.stderr).toContain(`can read \`${file}\``);
  chmodSync(file, 0o400);

  // Neither files nor the commands of the operator are within reach of the agent's user …
  const reaches = (user: number) => [
    codeAs(user, ["ls", kernel.state]),
    codeAs(user, ["cat", join(kernel.state, "state.db")]),
    codeAs(user, ["touch", join(kernel.config, "handrail.yaml.d")]),
    codeAs(user, ["cat", join(kernel.workspace, "one.txt")]),
  ];
  expect(reaches(AGENT).every((code) => code !== 0)).toBe(true);
  // … also where the directory around them lets everybody pass, so that only their own modes are in the way
  chmodSync(kernel.base, 0o755);
  expect(reaches(AGENT).every((code) => code !== 0)).toBe(true);
  // … nor its process, nor its sockets, also where the state's own directory does; the control removes the last mode
  const sockets = ["handrail.sock", "handrail-http.sock"].map((name) => join(kernel.state, name));
  const inner = (user: number) => [
    codeAs(user, ["cat", `/proc/${server.pid}/environ`]),
    codeAs(user, ["ls", `/proc/${server.pid}/fd`]),
    codeAs(user, ["ls", `/proc/${server.pid}/cwd/`]),
    codeAs(user, ["cat", join(kernel.state, "state.db")]),
    codeAs(user, ["cat", join(kernel.state, "evidence.key")]),
    ...sockets.map((path) => codeAs(user, ["test", "-w", path])),
  ];
  chmodSync(kernel.state, 0o755);
  expect(inner(AGENT).every((code) => code !== 0)).toBe(true);
  expect(inner(ORDINARY_USER_ID).every((code) => code === 0)).toBe(true);
  for (const path of [...sockets, join(kernel.state, "evidence.key")]) chmodSync(path, 0o666);
  expect(inner(AGENT).filter((code) => code === 0)).toHaveLength(3);
  for (const path of [...sockets, join(kernel.state, "evidence.key")]) chmodSync(path, 0o600);
  chmodSync(kernel.state, 0o700);

  // Its token administers nothing; the control's does.
  const administers = async (credential: string, method: string) => {
    const headers = { authorization: `Bearer ${credential}`, "content-type": "application/json" };
    const url = `${address}/handrail.admin.v1.KernelAdmin/${method}`;
    return (await fetch(url, { method: "POST", headers, body: "{}" })).status;
  };
  const admin = (await handrail(kernel, ["admin", "token"])).stdout.trim();
  const added = await handrail(kernel, ["approvers", "add", "ada", "--json"]);
  const approver = (JSON.parse(added.stdout) as { readonly data: { readonly token: string } }).data.token;
  for (const method of ["ListSessions", "CreateSession", "ListApprovals", "DecideApproval", "Kill"])
    expect(await administers(token, method), method).toBe(401);
  expect(await administers(admin, "ListSessions")).toBe(200);
  expect(await administers(approver, "ListApprovals")).toBe(200);
  const stolen = { ...agent, state: kernel.state, config: kernel.config };
  mkdirSync(join(agent.home, "x"));
  for (const command of [
    ["approvals", "list"],
    ["sessions", "list"],
    ["admin", "token"],
  ])
    expect((await handrail(stolen, command)).code).not.toBe(0);
  // the control: the kernel's own user reaches all of it
  expect(reaches(ORDINARY_USER_ID).filter((code) => code !== 0)).toEqual([]);
  expect((await handrail(kernel, ["approvals", "list"])).code).toBe(0);
  expect((await handrail(kernel, ["sessions", "list"])).code).toBe(0);
});
