/** What APM2 promises of commands and of git, asked for in its own bytes and seen in what happens. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { git } from "../../../src/tools/git/git.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { decodeResponse, encodeRequest } from "../../../src/wire/codec.ts";
import { newRepository } from "../../support/git-place.ts";
import { type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

const TEST_MS_MAX = 120_000;

afterEach(() => {
  vi.restoreAllMocks();
});

type Variant = NonNullable<MessageInitShape<typeof ToolRequestSchema>["tool"]>;

/** A repository on the branch `work`, in a kernel that is asked by wire bytes alone. */
async function opened(options: Partial<MemoryKernelOptions> = {}) {
  const kernel = await memoryKernel({ tools: [git, shell], ...options });
  const plain = newRepository(kernel.root);
  plain.commit("begin", { "a.txt": "alpha\n" });
  plain.git("checkout", "--quiet", "-b", "work");
  plain.put("a.txt", "beta\n");
  let count = 0;
  const ask = async (tool: Variant) => {
    count += 1;
    const request = create(ToolRequestSchema, { requestId: `r${count}`, sessionToken: kernel.token, tool });
    const { result } = decodeResponse(
      await kernel.door.executeBytes(encodeRequest(request), new AbortController().signal),
    );
    if (result.case === "success") return Buffer.from(result.value.inlineResult).toString("utf8");
    if (result.case === "denied") return `${result.value.rationaleCode} ${result.value.ruleId}`;
    return result.case === "error" ? result.value.errorCode : "nothing";
  };
  const run = (value: object) => ask({ case: "shellExec", value });
  const gitOp = (operation: string, ...args: string[]) => ask({ case: "gitOp", value: { operation, args } });
  return { kernel, plain, run, gitOp };
}

describe("CTR-0012: a timeout_ms of 0 is the default timeout", () => {
  test("the command has 120 s, and what is asked for counts", { timeout: TEST_MS_MAX }, async () => {
    const ran = vi.spyOn(Sandbox.prototype, "run");
    const { run } = await opened();
    expect(JSON.parse(await run({ command: "echo done" }))).toMatchObject({ data: { exit_code: 0, stdout: "done\n" } });
    await run({ command: "true", timeoutMs: 0n });
    await run({ command: "true", timeoutMs: 60_000n });
    await run({ command: "true", timeoutMs: 3_600_000n });
    // what looks through the history of the repository has a time of its own
    const commands = ran.mock.calls.filter(([{ command }]) => ["echo done", "true"].includes(command.at(-1) ?? ""));
    const limits = commands.map(([run]) => run.limits.timeoutMs);
    expect(limits).toEqual([120_000, 120_000, 60_000, 3_600_000]);
  });

  test("a time that was asked for ends the command", { timeout: TEST_MS_MAX }, async () => {
    const { run } = await opened();
    expect(await run({ command: "exec sleep 86399", timeoutMs: 1000n })).toBe("TIMEOUT");
  });
});

test("CTR-0013: policy denies network_access although it is requested, and the same command without it runs", {
  timeout: TEST_MS_MAX,
}, async () => {
  const offline = `@id("test.offline")
@rationale("shell_exec_denied")
@message("no network here")
forbid (principal, action == Handrail::Action::"shell", resource) when { context.network };`;
  const { run } = await opened({ policies: offline });
  const asked = { command: "curl -s https://example.com", networkAccess: true };
  expect(await run(asked)).toBe("SHELL_EXEC_DENIED test.offline");
  expect(JSON.parse(await run({ command: "echo offline" }))).toMatchObject({ data: { stdout: "offline\n" } });
  // the control: without that rule the request is asked about, and so not denied
  expect(await (await opened()).run(asked)).toMatch(/^TOOL_APPROVAL_REQUIRED /);
});

describe("CTR-0015: git is mediated apart from shell", () => {
  const forbid = (action: string) =>
    `@id("test.no-${action.replace(":", "-")}")\n@message("m")\nforbid (principal, action == Handrail::Action::"${action}", resource);`;

  test("policy refuses the one and allows the other, either way", { timeout: TEST_MS_MAX }, async () => {
    const noGit = await opened({ policies: forbid("git:diff") });
    expect(await noGit.gitOp("DIFF")).toBe("GIT_OP_DENIED test.no-git-diff");
    expect(JSON.parse(await noGit.run({ command: "echo goes" }))).toMatchObject({ data: { stdout: "goes\n" } });
    const noShell = await opened({ policies: forbid("shell") });
    expect(await noShell.run({ command: "git diff" })).toBe("SHELL_EXEC_DENIED test.no-shell");
    expect(await noShell.gitOp("DIFF")).toContain("+beta");
  });

  test("git in a shell command changes nothing of the repository, as the operation does", {
    timeout: TEST_MS_MAX,
  }, async () => {
    const { plain, run, gitOp } = await opened();
    const head = () => plain.git("rev-parse", "HEAD").trim();
    const before = head();
    const tried = await run({
      command: "git -c user.name=a -c user.email=a@b.invalid commit -qam x; git branch sneaky",
    });
    expect([head(), plain.git("branch", "--list", "sneaky")]).toEqual([before, ""]);
    expect(tried).not.toContain('"exit_code":0');
    expect(await gitOp("ADD", "--", "a.txt")).toContain("a.txt");
    expect(await gitOp("COMMIT", "-m", "say beta")).toContain("say beta");
    expect(head()).not.toBe(before);
  });
});

test("CTR-0016: one session may DIFF and may not PUSH", { timeout: TEST_MS_MAX }, async () => {
  const forbid = `@id("test.no-push")\n@message("m")\nforbid (principal, action == Handrail::Action::"git:push", resource);`;
  const session = { role: "release_manager" } as const;
  const { plain, gitOp } = await opened({ session, policies: forbid });
  plain.git("remote", "add", "origin", "https://git.example.com/a.git");
  expect(await gitOp("DIFF")).toContain("+beta");
  expect(await gitOp("PUSH", "origin", "work")).toBe("GIT_OP_DENIED test.no-push");
  expect(await gitOp("DIFF")).toContain("+beta");
  // the control: without the rule the same push is asked about
  const free = await opened({ session });
  free.plain.git("remote", "add", "origin", "https://git.example.com/a.git");
  expect(await free.gitOp("PUSH", "origin", "work")).toMatch(/^TOOL_APPROVAL_REQUIRED /);
});
