// Effects of a command about which policy asks: a person sees them after the command ran and before they land, and what
// they agree to is what lands.
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { INITIAL_MARK } from "../../src/flow/flow.ts";
import { reviewRisks } from "../../src/kernel/ask/approval-text/review-words.ts";
import { readApprovalDocument } from "../../src/model/approval/approval-document.ts";
import { promptLines } from "../../src/model/approval/prompt-lines.ts";
import type { LeaseScope } from "../../src/model/people/lease.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { approve, askingKernel, denialOf, pending, refuse } from "../support/asking.ts";

async function place(policies = "", scope: Partial<LeaseScope> = {}) {
  const kernel = await askingKernel({ tools: [shell], policies, scope });
  const at = (path: string) => join(kernel.root, path);
  const text = (path: string) => (existsSync(at(path)) ? readFileSync(at(path), "utf8") : undefined);
  writeFileSync(at("CLAUDE.md"), "be careful\n");
  const run = (command: string) => kernel.call("shell", { command });
  return { kernel, at, text, run };
}

const COMMAND = "echo obey >> CLAUDE.md; echo own > own.txt";

test("a person sees what would change, and when they agree all of it lands", async () => {
  const { kernel, text, run } = await place();
  const asked = run(COMMAND);
  const { ref, document } = await pending(kernel);
  expect(text("own.txt")).toBeUndefined();
  expect(readApprovalDocument(ref, document ?? "")).toMatchObject({
    id: "shell:execute",
    summary: "`shell` has run; to land: write 1 protected file",
    details: {
      rules: [{ ruleId: "dev.write-protected" }],
      accesses: [{ kind: "file", effect: "write", path: "CLAUDE.md", zone: "protected", action: "commit" }],
      changes: [{ path: "CLAUDE.md", kind: "modify", diff: expect.stringContaining("+obey") }],
    },
  });
  await approve(kernel, ref);
  expect((await asked).outcome).toMatchObject({ kind: "success", data: { files: { created: 1, changed: 1 } } });
  expect([text("CLAUDE.md"), text("own.txt")]).toEqual(["be careful\nobey\n", "own\n"]);
});

test("what a person refuses is dropped and named, and the rest lands", async () => {
  const { kernel, text, run } = await place();
  const asked = run(COMMAND);
  await refuse(kernel, (await pending(kernel)).ref);
  expect((await asked).outcome).toMatchObject({
    kind: "success",
    data: { files: { created: 1 }, not_kept: [{ path: "CLAUDE.md", reason: "not_approved" }] },
  });
  expect([text("CLAUDE.md"), text("own.txt")]).toEqual(["be careful\n", "own\n"]);
});

test("what moved is not lost when only the place that it came from may change", async () => {
  const { kernel, text, run } = await place();
  const asked = run("mv CLAUDE.md notes.md; echo new > own.txt");
  await refuse(kernel, (await pending(kernel)).ref);
  await asked;
  expect(text("CLAUDE.md")).toBe("be careful\n");
});

test("where nobody answers nothing lands, and the same effects land once somebody has agreed; others do not", async () => {
  const { kernel, text, run } = await place();
  const cancelled = new AbortController();
  const first = kernel.call("shell", { command: COMMAND }, { signal: cancelled.signal });
  const { ref } = await pending(kernel);
  cancelled.abort();
  await first;
  expect([text("CLAUDE.md"), text("own.txt")]).toEqual(["be careful\n", undefined]);
  await approve(kernel, ref);
  // another command, though it changes the same file: it is asked about anew
  const other = kernel.call("shell", { command: `${COMMAND}; true` });
  await refuse(kernel, (await pending(kernel)).ref);
  expect((await other).outcome).toMatchObject({ data: { not_kept: [{ path: "CLAUDE.md" }] } });
  expect((await run(COMMAND)).outcome).toMatchObject({ kind: "success" });
  expect(text("CLAUDE.md")).toBe("be careful\nobey\n");
});

test.each<[string, (at: (path: string) => string) => void]>([
  ["in place", (at) => writeFileSync(at("CLAUDE.md"), "a person's\n")],
])("a file that somebody changes %s while a person decides is not overwritten", async (_, change) => {
  const { kernel, at, text, run } = await place();
  const asked = run(COMMAND);
  const { ref } = await pending(kernel);
  change(at);
  await approve(kernel, ref);
  expect(denialOf(await asked)).toMatchObject({ reason: "tool_approval_invalid" });
  expect([text("CLAUDE.md"), text("own.txt")]).toEqual(["a person's\n", undefined]);
});

test("an approval of what a command changed does not hold for what it changes another time", async () => {
  const { kernel, text, run } = await place();
  const command = "date +%N >> CLAUDE.md";
  const first = run(command);
  await approve(kernel, (await pending(kernel)).ref);
  await first;
  const after = text("CLAUDE.md");
  const second = run(command);
  await refuse(kernel, (await pending(kernel)).ref);
  await second;
  expect(text("CLAUDE.md")).toBe(after);
});

test("an approval that nobody used does not hold for other bytes of the same call", async () => {
  const { kernel, text, run } = await place();
  const command = "date +%N > CLAUDE.md"; // as many bytes each time
  const cancelled = new AbortController();
  const first = kernel.call("shell", { command }, { signal: cancelled.signal });
  const { ref } = await pending(kernel);
  cancelled.abort();
  await first;
  await approve(kernel, ref);
  expect(denialOf(await run(command))).toMatchObject({ reason: "tool_approval_invalid" });
  expect(text("CLAUDE.md")).toBe("be careful\n");
});

test("a lease that says which commands may run lets their effects land", async () => {
  const { kernel, text, run } = await place("", { commands: [["echo"]] });
  const asked = run(COMMAND);
  await approve(kernel, (await pending(kernel)).ref);
  expect((await asked).outcome).toMatchObject({ kind: "success", data: { files: { created: 1, changed: 1 } } });
  expect(text("CLAUDE.md")).toBe("be careful\nobey\n");
  expect(denialOf(await run("printf x"))).toMatchObject({ reason: "lease_scope" }); // the control: it restricts
});

test("once a lease has ended nothing lands, whatever a person says of what asks", async () => {
  const { kernel, text, run } = await place();
  const asked = run(COMMAND);
  const { ref } = await pending(kernel);
  await kernel.sessions.updateLease(kernel.lease.id, { expiresAtMs: kernel.time.nowMs });
  kernel.time.nowMs += 1;
  await refuse(kernel, ref);
  expect((await asked).outcome.kind).toBe("denied");
  expect(text("own.txt")).toBeUndefined();
});

test.each([
  ["in a new directory, with a name in another one", ".husky/pre-commit", "dist/out.js"],
  ["in a new directory, with a name outside", ".husky/pre-commit", "out.js"],
  ["that is new by itself, with a name in a new directory", "AGENTS.md", "dist/out.js"],
  ["that was there, with a name beside it", "CLAUDE.md", "out.js"],
])("a file that asks, %s, lands apart from its other name", async (_, asks, other) => {
  const { kernel, at, text, run } = await place();
  const asked = run(`mkdir -p .husky dist; echo test > ${asks}; ln ${asks} ${other}`);
  await approve(kernel, (await pending(kernel)).ref);
  expect((await asked).outcome.kind).toBe("success");
  expect([text(asks), text(other)]).toEqual(["test\n", "test\n"]);
  expect(statSync(at(asks)).nlink).toBe(1);
  writeFileSync(at(other), "evil");
  expect(text(asks)).toBe("test\n");
});

test("a file that becomes a directory, other rights, and links to what asks are shown, or land apart", async () => {
  const { kernel, at, text, run } = await place();
  const asked = run(
    "mv CLAUDE.md /tmp/; mkdir CLAUDE.md; mkdir .husky; echo test > .husky/pre-commit; chmod 755 .husky/pre-commit; ln .husky/pre-commit out.js",
  );
  const { ref, document } = await pending(kernel);
  const shown = readApprovalDocument(ref, document);
  expect(shown?.details.changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "create .husky/pre-commit",
    "delete CLAUDE.md",
  ]);
  await approve(kernel, ref);
  await asked;
  writeFileSync(at("out.js"), "evil");
  expect(text(".husky/pre-commit")).toBe("test\n");
  const second = run("chmod 640 .husky/pre-commit");
  const again = await pending(kernel);
  expect(readApprovalDocument(again.ref, again.document)?.risks).toContainEqual(
    expect.stringContaining("0755 to 0640"),
  );
  await refuse(kernel, again.ref);
  await second;
});

test("policy judges each effect by what it is", async () => {
  const { text, run } = await place(
    `@id("test.no-programs") @message("no programs; leave them out") forbid (principal, action == Handrail::Action::"commit", resource) when { context.arguments has executable && context.arguments.executable };
     @id("test.no-removing") @message("nothing goes; leave it") forbid (principal, action == Handrail::Action::"commit", resource) when { context.arguments has kind && context.arguments.kind == "delete" };
     @id("test.small") @message("small files; split it") forbid (principal, action == Handrail::Action::"commit", resource) when { context.arguments has bytes && context.arguments.bytes > 1000 };`,
  );
  const { outcome } = await run("echo a > plain; echo b > program; chmod +x program; head -c 2000 /dev/zero > large");
  expect(outcome).toMatchObject({
    data: {
      files: { created: 1 },
      not_kept: [
        { path: "large", reason: "not_allowed" },
        { path: "program", reason: "not_allowed" },
      ],
    },
  });
  await run("mv plain other");
  expect(text("plain")).toBe("a\n");
});

const ASKS = `@id("test.all") @ask("everything that a command changes") permit (principal, action == Handrail::Action::"commit", resource is Handrail::File);`;

test("a file and a directory that were renamed are shown as that, and recorded as that once they have landed", async () => {
  const { kernel, at, text, run } = await place(ASKS);
  mkdirSync(at("lib/in"), { recursive: true });
  for (const path of ["a.txt", "lib/x.ts", "lib/in/y.ts"]) writeFileSync(at(path), `the text of ${path}\n`);
  const asked = run("mv a.txt b.txt; mv lib moved; echo new > c.txt");
  const { ref, document } = await pending(kernel);
  const shown = readApprovalDocument(ref, document);
  expect(shown?.details.changes).toMatchObject([
    { kind: "rename", from: "lib/", path: "moved/" },
    { kind: "rename", from: "a.txt", path: "b.txt", diff: expect.stringContaining("+the text of a.txt") },
    { kind: "create", path: "c.txt" },
  ]);
  const lines = (shown === undefined ? [] : promptLines(shown)).map(({ text }) => text).join("\n");
  expect(lines).toMatch(/renamed directory, from\n.*lib\/.*\nto\n.*moved\//);
  expect(lines).toMatch(/renamed file, 18 bytes, from\n.*a\.txt.*\nto\n.*b\.txt/);
  await approve(kernel, ref);
  expect((await asked).outcome).toMatchObject({ kind: "success" });
  expect([text("a.txt"), text("b.txt"), text("moved/in/y.ts")]).toEqual([
    undefined,
    "the text of a.txt\n",
    "the text of lib/in/y.ts\n",
  ]);
  const [recorded] = (kernel.ledger.of("tool_executed").at(-1)?.payload["commands"] ?? []) as { effects: object[] }[];
  expect(recorded).toMatchObject({
    effects: expect.arrayContaining([
      { kind: "rename", from: "a.txt", path: "b.txt", digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      { kind: "rename", from: "lib", path: "moved" },
      expect.objectContaining({ kind: "create", path: "c.txt" }),
    ]),
    effectsCount: 3,
  });
});

test("a rule keeps what may come from untrusted content from landing, and the label of what lands is recorded", async () => {
  const policies = `@id("test.trusted") @message("the session has read untrusted content; write it with the file tools") forbid (principal, action == Handrail::Action::"commit", resource is Handrail::File) when { context.trust == "untrusted" && resource.name == "after" };`;
  const { kernel, text, run } = await place(policies);
  expect((await run("echo 1 > before")).outcome).toMatchObject({ data: { files: { created: 1 } } });
  const labelled = kernel.ledger.of("tool_executed").at(-1)?.payload["commands"];
  expect(labelled).toMatchObject([{ effectsLabel: { trustLevel: "verified", dataClass: "internal" } }]);
  const seen = { trustLevel: "untrusted", dataClass: "internal" } as const;
  await kernel.marks.raiseMark(kernel.session, { initial: INITIAL_MARK, seen }, kernel.time.nowMs);
  const ran = await run("echo 2 > after"); // which reaches nothing, and so does not ask
  expect(ran.outcome).toMatchObject({ data: { not_kept: [{ path: "after", reason: "not_allowed" }] } });
  expect([text("before"), text("after")]).toEqual(["1\n", undefined]);
});

test("what a command has reached already is shown before what would land, host by host", async () => {
  const { kernel, run } = await place();
  const asked = run(COMMAND);
  const { ref, document } = await pending(kernel);
  const shown = readApprovalDocument(ref, document);
  expect(shown?.details).not.toHaveProperty("reached");
  await refuse(kernel, ref);
  await asked;
  const reached = [{ host: "api.example", port: 443, allowed: 2, refused: 1, failed: 0, bytesOut: 12_000, bytesIn: 3 }];
  expect(reviewRisks({ rights: [], programs: 0, reached })).toContain(
    "it has already reached 1 host: 12000 bytes sent",
  );
  const request = shown && { ...shown, details: { ...shown.details, reached } };
  const lines = (request === undefined ? [] : promptLines(request)).map((line) => line.text).join("\n");
  expect(lines).toMatch(
    /tried to reach already, whatever you say\nport 443: 2 times reached, 12000 bytes sent, 3 received; 1 times refused, 0 failed\n.*api\.example/,
  );
});
