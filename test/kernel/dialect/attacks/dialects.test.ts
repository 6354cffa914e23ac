/** What a dialect must not open: paths in other spellings, tools by other names, arguments of the kernel's. */
import { expect, test } from "vitest";
import { dialectPlace } from "../../../support/dialect-place.ts";

test.each([
  "/etc/passwd",
  "/workspace/a.txt",
  "\\etc\\passwd",
  "C:\\Windows",
  "file:///etc/passwd",
  "../a.txt",
  "src/../a.txt",
  "src\\..\\..\\x",
  "..",
])("Brio refuses the path %s, which names a file from above; Handrail's own words take some of them", async (path) => {
  const { speaking } = await dialectPlace();
  const { call } = await speaking("brio");
  for (const [tool, args] of [
    ["read_file", { path }],
    ["write_file", { path, content: "x" }],
    ["ls", { path }],
    ["grep", { path, pattern: "x" }],
  ] as const)
    expect(await call(tool, args)).toMatchObject({
      status: "error",
      error: { code: "TOOL_INPUT_INVALID", rule_id: `SCHEMA:${tool}` },
      metadata: { security_checks: "denied" },
    });
  const plain = await speaking(undefined);
  if (path === "/workspace/a.txt") expect(await plain.call("read_file", { path })).toMatchObject({ status: "success" });
});

test.each(["cat ../a.txt", "cat '../a.txt'", 'cat "src/../a.txt"', "type ..\\a.txt", "echo '..\\x'"])(
  "Brio refuses the command %s, quoted or not; without the dialect it runs",
  async (command) => {
    const { speaking } = await dialectPlace();
    expect(await (await speaking("brio")).call("shell", { command })).toMatchObject({
      status: "error",
      error: { code: "TOOL_INPUT_INVALID" },
    });
    expect(await (await speaking(undefined)).call("shell", { command })).not.toMatchObject({
      error: { code: "TOOL_INPUT_INVALID" },
    });
  },
);

test("Brio's bounds hold: long patterns and large files", async () => {
  const { speaking } = await dialectPlace();
  const { call } = await speaking("brio");
  expect(await call("grep", { pattern: "x".repeat(1000) })).toMatchObject({ status: "success" });
  expect(await call("grep", { pattern: "x".repeat(1001) })).toMatchObject({ status: "error" });
  const content = "x".repeat(10 * 1024 * 1024);
  expect(await call("write_file", { path: "large.txt", content: `${content}x` })).toMatchObject({ status: "error" });
});

test("a tool that the operator switched off stays so under every name", async () => {
  const { speaking } = await dialectPlace("preset: open\ntools:\n  disabled: [shell]\n");
  for (const [dialect, tool] of [
    ["meao", "bash"],
    ["brio", "shell"],
    ["apm2", "shell_exec"],
    ["flow", "shell"],
  ] as const)
    expect([dialect, await (await speaking(dialect)).call(tool, { command: "true" })]).toEqual([
      dialect,
      expect.objectContaining({ error: expect.objectContaining({ rule_id: expect.stringMatching(/^GATE:shell$/) }) }),
    ]);
});

test.each([
  ["meao", "read_file", { path: "a.txt" }],
  ["brio", "edit_file", { path: "a.txt", old_string: "one", new_string: "two" }],
  ["apm2", "delete_file", { path: "a.txt" }],
  ["brio", "__proto__", {}],
  ["brio", "constructor", {}],
  ["apm2", "toString", {}],
] as const)("%s has no tool %s, whatever the kernel has", async (dialect, tool, args) => {
  const { speaking } = await dialectPlace();
  expect(await (await speaking(dialect)).call(tool, args)).toMatchObject({
    status: "error",
    error: { code: "TOOL_SPEC_MISSING", rule_id: `DIALECT:${dialect}` },
  });
});

test("arguments of the kernel's that a dialect does not have are refused with it", async () => {
  const { speaking } = await dialectPlace();
  const brio = await speaking("brio");
  const meao = await speaking("meao");
  for (const result of [
    await brio.call("shell", { command: "true", network_access: true }),
    await brio.call("read_file", { path: "a.txt", max_bytes: 1 }),
    await meao.call("bash", { command: "true", env: ["A=b"] }),
    await brio.call("read_file", JSON.parse('{"path":"a.txt","__proto__":{"max_bytes":1}}')),
  ])
    expect(result).toMatchObject({
      error: { code: expect.stringMatching(/^(TOOL_INPUT_INVALID|VALIDATION_FAILED)$/) },
    });
});

test("a secret in the words of a dialect is hidden as in the kernel's own", async () => {
  const { place, speaking } = await dialectPlace();
  const token = `ghp_${"Ab3dE6gH".repeat(5)}`;
  place.put("workspace/leak.txt", `token ${token}\n`);
  for (const [dialect, tool, args] of [
    ["meao", "read", { path: "leak.txt" }],
    ["meao", "bash", { command: "cat leak.txt; cat leak.txt >&2; exit 1" }],
    ["brio", "grep", { pattern: "token" }],
    ["brio", "read_file", { path: `none-${token}` }],
  ] as const) {
    const { call, text } = await speaking(dialect);
    expect(JSON.stringify([await call(tool, args), await text(tool, args)])).not.toContain(token);
  }
});
