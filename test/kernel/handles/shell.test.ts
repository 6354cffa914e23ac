/**
 * A shell command in the pipeline: what lease, workspace guard and policy make of its parsed form, and what is recorded
 * of it.
 */
import { expect, test } from "vitest";
import { LEASE_DIMENSIONS } from "../../../src/model/people/lease.ts";
import type { Tool } from "../../../src/model/tool/tool.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

/** The tool as it is, but for running nothing: what is judged here comes before. */
const judged = { ...shell, execute: () => ({ kind: "data", data: { ran: true } }) } as unknown as Tool;

function kernelOf(options: MemoryKernelOptions = {}): Promise<MemoryKernel> {
  return memoryKernel({ preset: "open", tools: [judged], ...options });
}

async function outcome(kernel: MemoryKernel, command: string, more: object = {}): Promise<string> {
  const { outcome: ended } = await kernel.call("shell", { command, ...more });
  if (ended.kind === "denied") return `${ended.denial.reason} ${ended.denial.ruleId.replace(/^LEASE:.*/, "LEASE")}`;
  return ended.kind === "error" ? ended.code : "goes";
}

test.each([
  ["echo x > out.txt", "goes"],
  ["echo x > /workspace/out.txt", "goes"],
  ["echo x > /tmp/out.txt", "goes"],
  ["echo x 2> /dev/null", "goes"],
  ["cat < in.txt", "goes"],
  ["cd web && echo x > out.txt", "goes"],
  ["echo x > /etc/passwd", "workspace_path_escape WORKSPACE:scope"],
  ["echo x > /dev/sda", "workspace_path_escape WORKSPACE:scope"],
  ["echo x > ../out.txt", "workspace_path_traversal INV-0007"],
  ["echo x > /tmp/../etc/passwd", "workspace_path_traversal INV-0007"],
  ["cd .. && echo x > out.txt", "workspace_path_traversal INV-0007"],
  ["cd /etc && echo x > passwd", "workspace_path_escape WORKSPACE:scope"],
  ["cat < /etc/passwd", "workspace_path_escape WORKSPACE:scope"],
  ["cat < .env", "workspace_blocked_zone ZONE:secret"],
  ["echo x >> '.e'nv", "workspace_blocked_zone ZONE:secret"],
  ["sh -c 'sudo tee < secrets/k'", "workspace_blocked_zone ZONE:secret"],
  ["echo x > .git/hooks/pre-commit", "workspace_blocked_zone ZONE:managed"],
  ["echo x > shared/types.ts", "workspace_read_only ZONE:shared"],
  ["cat < shared/types.ts", "goes"],
  ["x=1 > .env", "workspace_blocked_zone ZONE:secret"],
  ["f() { echo x; } > .env", "workspace_blocked_zone ZONE:secret"],
  ["for d in web; do cd $d; echo x > .env; done", "workspace_blocked_zone ZONE:secret"],
])("the workspace holds for redirections: %s: %s", async (command, expected) => {
  expect(await outcome(await kernelOf(), command)).toBe(expected);
});

test("the directory of a command is judged like any path", async () => {
  const kernel = await kernelOf();
  expect(await outcome(kernel, "ls", { cwd: "web" })).toBe("goes");
  expect(await outcome(kernel, "ls", { cwd: "../x" })).toBe("workspace_path_traversal INV-0007");
  expect(await outcome(kernel, "ls", { cwd: "/etc" })).toBe("workspace_path_escape WORKSPACE:scope");
  expect(await outcome(kernel, "ls", { cwd: "secrets" })).toBe("workspace_blocked_zone ZONE:secret");
});

test.each([
  ["npm test", "goes"],
  ["npm ci && npm test | tee", "goes"],
  ["/usr/bin/npm test", "goes"],
  ["n\\pm test", "goes"],
  ["npm test; rm x", "lease_scope LEASE"],
  ["npm test $(rm x)", "lease_scope LEASE"],
  ["./npm test", "lease_scope LEASE"],
  ["env npm test", "lease_scope LEASE"],
  ["$npm test", "lease_scope LEASE"],
  ["npm test; $x", "lease_scope LEASE"],
  ["PATH=. npm test", "lease_scope LEASE"],
  ["npm test (", "lease_scope LEASE"],
  ["x=1", "lease_scope LEASE"],
  [`npm ${"x".repeat(40_000)}`, "lease_scope LEASE"],
])("a lease with the commands npm and tee: %#: %s", async (command, expected) => {
  const kernel = await kernelOf({ scope: { commands: [["npm", "tee"]] } });
  expect(await outcome(kernel, command)).toBe(expected);
});

test("a lease's paths and hosts hold for what a command names", async () => {
  const paths = await kernelOf({ scope: { writePaths: [["out/**"]] } });
  expect([await outcome(paths, "echo x > out/a"), await outcome(paths, "echo x > b")]).toEqual([
    "goes",
    "lease_scope LEASE",
  ]);
  const hosts = await kernelOf({ scope: { hosts: [["good.example"]] } });
  const ask = { network_access: true };
  expect(await outcome(hosts, "curl https://good.example/x", ask)).toBe("goes");
  expect(await outcome(hosts, "curl https://good.example https://other.example", ask)).toBe("lease_scope LEASE");
  expect(await outcome(hosts, "npm ci", ask)).toBe("lease_scope LEASE");
  expect(await outcome(hosts, "npm ci")).toBe("goes");
  expect(await outcome(hosts, "echo x > /dev/tcp/other.example/80")).toBe("lease_scope LEASE");
  expect(LEASE_DIMENSIONS).toContain("commands");
});

test("policy is asked about what runs, and evidence names it", async () => {
  const kernel = await kernelOf({ preset: "meao" });
  expect(await outcome(kernel, "ls")).toBe("tool_approval_required meao.shell");
  expect(await outcome(kernel, "sudo n''pm i left-pad")).toBe("shell_exec_denied install.npm-lockfile-only");
  expect(kernel.ledger.of("tool_execution_denied").at(-1)?.payload).toMatchObject({
    tool: "shell",
    args: { command: "sudo n''pm i left-pad" },
    accesses: [
      { kind: "command", effect: "exec", binary: "sudo", line: "sudo npm i left-pad" },
      {
        kind: "command",
        effect: "exec",
        binary: "npm",
        line: "npm i left-pad",
        arguments: ["i", "left-pad"],
        via: ["sudo"],
        dangers: [],
      },
    ],
  });
});

test("an explanation says which part of the command has it marked, in words that an agent did not write", async () => {
  const kernel = await kernelOf({ preset: "dev" });
  const explained = async (command: string) =>
    (await kernel.door.explain({ who: kernel, tool: "shell", args: { command } })).accesses.map(
      ({ reasons }) => reasons,
    );
  const why = ["`tar --checkpoint-action` starts another program (tar(1))"];
  expect(await explained("tar cf a.tar src --checkpoint-act=exec='sh x'")).toEqual([why, why]);
  expect(await explained("tar cf a.tar src")).toEqual([undefined]);
});

test("a request says each mark once: by the part of the command that has it, or in general words where none is known", async () => {
  const kernel = await kernelOf({ preset: "meao" });
  const marksOf = async (command: string) => {
    await kernel.call("shell", { command });
    const [asked] = (await kernel.asked.list(undefined, 100, kernel.time.nowMs)).filter(({ document }) =>
      document.includes(command),
    );
    const { risks } = JSON.parse(asked?.document ?? "{}") as { readonly risks: readonly string[] };
    return risks.filter((risk) => !/^(?:the call matches|runs programs)/.test(risk));
  };
  expect(await marksOf("tar xf a.tar --to-command=id")).toEqual(["`tar --to-command` starts another program (tar(1))"]);
  expect(await marksOf("git push")).toEqual(["`git push` acts outside of this sandbox (git-push(1))"]);
  expect(await marksOf("python3 -c 1")).toEqual(["`python3` gets a program as text"]);
  expect(await marksOf("tar xf a; $x")).toEqual(["which program runs is only known when it runs"]);
});

test("a lease for a program covers its plain use, and not what it starts or loads", async () => {
  const kernel = await kernelOf({ scope: { commands: [["tar", "curl"]] } });
  expect(await outcome(kernel, "tar xf a.tar")).toBe("goes");
  expect(await outcome(kernel, "tar xf a.tar --to-command=id")).toBe("lease_scope LEASE");
  expect(await outcome(kernel, "tar xf $x")).toBe("lease_scope LEASE");
  expect(await outcome(kernel, "curl --engine ./x.so https://example.org")).toBe("lease_scope LEASE");
});

test("without a permit for it a shell command is denied by its name on the wire (CTR-0027)", async () => {
  expect(await outcome(await kernelOf({ preset: "reader" }), "ls")).toBe("shell_exec_denied DEFAULT_DENY");
});
