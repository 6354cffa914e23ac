/**
 * The tools that a session is offered: what is refused whatever it is called with is left out, and nothing else.
 *
 * Each case is held against the kernel itself: a call of a tool that is not offered is refused for the reason of the
 * case, and without the case the same call runs.
 */
import { expect, test } from "vitest";
import { gatesOf } from "../support/gates.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel, testTool } from "../support/memory-kernel.ts";

const special = (more: Parameters<typeof testTool>[2] = {}) =>
  testTool("special", () => ({ kind: "data", data: {} }), more);

const openWith = (options: MemoryKernelOptions) => memoryKernel({ tools: [special()], ...options });
const offered = async (kernel: MemoryKernel) =>
  (await kernel.door.offered(kernel.token)).map(({ name }) => name).toSorted();

/** The tools that no kernel but the one of a case leaves out. */
const ALL = (kernel: MemoryKernel) =>
  kernel.door
    .tools()
    .map(({ name }) => name)
    .toSorted();

async function ended(kernel: MemoryKernel, tool: string): Promise<string> {
  const args = { path: "a.txt", ...(tool === "write_file" && { content: "text\n" }) };
  const { outcome } = await kernel.call(tool, args);
  return outcome.kind === "denied" ? outcome.denial.reason : outcome.kind;
}

type Options = () => Promise<MemoryKernelOptions> | MemoryKernelOptions;

/** What closes a tool, which tool, and how a call of it is refused. */
const CLOSING: readonly (readonly [string, string, string, Options])[] = [
  ["a lease", "write_file", "lease_scope", () => ({ scope: { tools: [["read_file", "special"]] } })],
  [
    "a mode",
    "write_file",
    "tool_not_allowed",
    async () => ({
      settings: { gates: await gatesOf({ modes: { look: { tools: ["read_file", "special"] } } }) },
      session: { mode: "look" },
    }),
  ],
  [
    "the operator's switch",
    "write_file",
    "tool_not_allowed",
    () => ({ settings: { disabledTools: new Set(["write_file"]) } }),
  ],
  ["the workspace", "write_file", "tool_not_allowed", () => ({ workspaceDisabled: ["write_file"] })],
  ["another role", "special", "permission_denied", () => ({ tools: [special({ requiredRole: "sre" })] })],
  ["the tool", "special", "tool_approval_denied", () => ({ tools: [special({ approval: { level: "always_deny" } })] })],
];

test.each(CLOSING)("%s closes %s, which is not offered", async (_, tool, reason, options) => {
  const open = await openWith({});
  expect(await offered(open)).toEqual(ALL(open));
  expect(await ended(open, tool)).toBe("success");
  const closed = await openWith(await options());
  expect(await offered(closed)).not.toContain(tool);
  expect(await offered(closed)).toContain("read_file");
  expect(await ended(closed, tool)).toBe(reason);
});

test("a lease without one path to write closes what writes; with one path nothing is closed", async () => {
  const none = await openWith({ scope: { writePaths: [[]] } });
  const writing = ["delete_file", "edit_file", "rename_symbol", "write_file"];
  expect(await offered(none)).toEqual(ALL(none).filter((name) => !writing.includes(name)));
  expect(await ended(none, "write_file")).toBe("lease_scope");
  const some = await openWith({ scope: { writePaths: [["docs/**"]] } });
  expect([await offered(some), await ended(some, "write_file")]).toEqual([ALL(some), "lease_scope"]);
});

test("a lease without one path to read closes what reads files", async () => {
  const none = await openWith({ scope: { readPaths: [[]] } });
  const reading = [
    "count_matches",
    "diagnostics",
    "find_usage",
    "get_related_tests",
    "get_system_map",
    "get_task_context",
    "list_files",
    "read_file",
    "search_file",
    "search_knowledge",
  ];
  expect(ALL(none)).toEqual(expect.arrayContaining(["read_file"]));
  expect(await offered(none)).toEqual(ALL(none).filter((name) => !reading.includes(name)));
  expect(await ended(none, "read_file")).toBe("lease_scope");
});

test("what will pass or is closed for everybody closes nothing: the refusal says why", async () => {
  const off = await openWith({ settings: { toolsEnabled: false } });
  expect([await offered(off), await ended(off, "special")]).toEqual([ALL(off), "tools_disabled"]);
  const ending = await openWith({});
  ending.time.nowMs = ending.lease.expiresAtMs; // which is the end of its session too
  expect([await offered(ending), await ended(ending, "special")]).toEqual([ALL(ending), "session_expired"]);
  const stranger = await openWith({});
  expect((await stranger.door.offered("no token")).map(({ name }) => name).toSorted()).toEqual(ALL(stranger));
});
