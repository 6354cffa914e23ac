/** `get_task_context`: where a task stands, what is malformed, and that hostile documents cost time linear in them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { ToolFailure } from "../../../src/model/outcome/failure.ts";
import { getTaskContext } from "../../../src/tools/structure/get-task-context.ts";
import { ENTRIES_MAX, LIST_LEVELS_MAX, parseStatus } from "../../../src/tools/structure/status/status-document.ts";

const PLAN = `# Phase 1: Foundations [in progress]
## Service: auth
### Feature F-1: Login
Status: in progress
#### Task T-101: Password form (done)
Acceptance criteria:
- shows an error
- [x] works without JavaScript

Prose ends them.
- not one
#### Task T-102: Lockout
- [ ] after five tries
- [ ] T-103: Reset by mail
  - [ ] link is good for an hour
- [x] T-104 — Sign out
#### Acceptance
- both work together
### Feature F-2
Task \`T-101\` is only mentioned here.
# Phase 2
`;

async function ask(source: string, args: { task_id: string; max_tokens?: number }): Promise<JsonObject> {
  const code = {
    text: async (_: string, file: string) =>
      file === "docs/status.md" ? { kind: "text", text: source } : { kind: "none", why: "absent" },
  };
  const output = await getTaskContext.execute(args, { code } as never);
  return output.kind === "data" ? (output.data as JsonObject) : {};
}

describe("a plan", () => {
  test("answers ancestors, state, acceptance lines, sub-tasks and siblings", async () => {
    const data = await ask(PLAN, { task_id: "t-102" });
    expect(data).toEqual({
      path: "docs/status.md",
      task: {
        kind: "task",
        id: "T-102",
        title: "Lockout",
        line: 12,
        last_line: 18,
        acceptance: ["[open] after five tries", "both work together"],
      },
      ancestors: [
        { kind: "phase", id: "1", title: "Foundations", state: "in progress", line: 1 },
        { kind: "service", id: "auth", title: "auth", line: 2 },
        { kind: "feature", id: "F-1", title: "Login", state: "in progress", line: 3 },
      ],
      children: [
        { kind: "task", id: "T-103", title: "Reset by mail", state: "open", line: 14 },
        { kind: "task", id: "T-104", title: "Sign out", state: "done", line: 16 },
      ],
      siblings: [{ kind: "task", id: "T-101", title: "Password form", state: "done", line: 5 }],
      left_out: { acceptance: 0, children: 0, siblings: 0 },
      truncated: false,
    });
    expect(getTaskContext.toText?.(data)).toBe(`phase 1: Foundations [in progress] (line 1)
  service auth (line 2)
    feature F-1: Login [in progress] (line 3)
      task T-102: Lockout (line 12)
Acceptance:
- [open] after five tries
- both work together
Sub-tasks:
- task T-103: Reset by mail [open] (line 14)
- task T-104: Sign out [done] (line 16)
Siblings:
- task T-101: Password form [done] (line 5)
[docs/status.md:12-18]`);
  });

  test("acceptance lines end where prose begins, and belong to a list's task as well", async () => {
    const first = await ask(PLAN, { task_id: "T-101" });
    expect(first["task"]).toMatchObject({
      state: "done",
      acceptance: ["shows an error", "[done] works without JavaScript"],
    });
    expect((await ask(PLAN, { task_id: "T-103" }))["task"]).toMatchObject({
      acceptance: ["[open] link is good for an hour"],
    });
  });

  test.each(["Phase 1", "auth", "F-2", "phase 2"])("%s is found as well", async (id) => {
    expect((await ask(PLAN, { task_id: id }))["task"]).toMatchObject({ title: expect.any(String) });
  });

  test("a small budget leaves out what comes last, and says how much", async () => {
    const many = `# Feature F-1\n${Array.from({ length: 200 }, (_, index) => `## Task T-${index}\n`).join("")}`;
    const data = await ask(many, { task_id: "T-7", max_tokens: 200 });
    const siblings = data["siblings"] as unknown[];
    expect(siblings.length).toBeGreaterThan(3);
    expect(data["left_out"]).toEqual({ acceptance: 0, children: 0, siblings: 199 - siblings.length });
    expect(JSON.stringify(data).length).toBeLessThan(200 * 4 + 300);
    expect(getTaskContext.toText?.(data)).toContain("raise `max_tokens`, or read the lines");
  });
});

describe("a document that cannot be used", () => {
  const refusal = async (source: string, id = "T-1") => {
    const failure = await ask(source, { task_id: id }).catch((error: unknown) => error);
    return failure instanceof ToolFailure ? `${failure.message}; ${failure.suggestion}` : failure;
  };

  test.each([
    ["# Task T-1\n\n```ts\ncode\n", "line 3: the code block that begins here is never ended"],
    ["# Task T-1\n<!-- old\n", "line 2: the comment that begins here is never ended"],
    ["# Feature F\n## Phase 2\n", "line 2: a phase stands within the feature of line 1"],
    ["# T-1: one\n# T-1: two\n", "has 2 entries with the id `T-1`, in the lines 1, 2"],
    ["# T-2: one\n", "has no task `T-1`; it has 1 ids, such as `T-2`"],
    ["nothing", "has no task `T-1`; give headings and tasks ids"],
    [`${"# T-9\n".repeat(ENTRIES_MAX + 1)}`, `line ${ENTRIES_MAX + 1}: there are more than ${ENTRIES_MAX}`],
    [
      Array.from({ length: LIST_LEVELS_MAX + 2 }, (_, level) => `${" ".repeat(level)}- [ ] T-${level}: x\n`).join(""),
      `line ${LIST_LEVELS_MAX + 1}: list items stand more than ${LIST_LEVELS_MAX} levels`,
    ],
  ])("%#: says the line", async (source, problem) => expect(await refusal(source)).toContain(problem));

  test("none at all is said with the places where it was looked for", async () => {
    const code = { text: async () => ({ kind: "none", why: "absent" }) };
    const asked = Promise.resolve(getTaskContext.execute({ task_id: "T-1" }, { code } as never));
    await expect(asked).rejects.toThrow("`status.md`, `docs/status.md`, `plans/status.md`");
  });
});

describe("whatever stands in a document", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "# Phase 1",
      "## T-1: a",
      "- [ ] T-2: b",
      "  - [x] c",
      "Acceptance:",
      "```",
      "<!--",
      "-->",
      "Status: x",
    ),
    fc.string({ maxLength: 40 }),
  );

  test("it is parsed or refused with a line of it, and each entry stands within its parent", () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 60 }), (lines) => {
        const document = parseStatus(lines.join("\n"));
        const count = lines.join("\n").split("\n").length;
        if (document.kind === "malformed") {
          expect(document.line).toBeGreaterThan(0);
          expect(document.line).toBeLessThanOrEqual(count);
          return;
        }
        for (const entry of document.entries) {
          expect(entry.lastLine).toBeLessThanOrEqual(count);
          if (entry.parent) expect(entry.parent.line).toBeLessThan(entry.line);
          if (entry.parent) expect(entry.parent.children).toContain(entry);
        }
      }),
    );
  });

  test.each([
    ["headings", (count: number) => "# a\n".repeat(Math.min(count, ENTRIES_MAX))],
    ["levels", (count: number) => Array.from({ length: count }, (_, at) => `${" ".repeat(at % 40)}- x`).join("\n")],
    ["one line of boxes", (count: number) => `# T-1: ${"[ ] ( ".repeat(count)}`],
    ["blanks", (count: number) => `# T-1${" \t".repeat(count)}x`],
    ["dashes", (count: number) => `# T-1${" - ".repeat(count)}`],
    ["brackets", (count: number) => `- ${"[".repeat(count)}`],
  ])("%s: ten times as much takes no more than ten times as long, with room for noise", (_, made) => {
    const timeOf = (source: string) => {
      const startedMs = performance.now();
      parseStatus(source);
      return performance.now() - startedMs;
    };
    timeOf(made(5000));
    const small = Math.min(timeOf(made(20_000)), timeOf(made(20_000)), timeOf(made(20_000)));
    const large = Math.min(timeOf(made(200_000)), timeOf(made(200_000)));
    expect(large).toBeLessThan(40 * Math.max(small, 2));
  });
});
