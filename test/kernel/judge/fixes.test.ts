/**
 * Fixes in refusals: the narrowest change in short, where it is known, and nothing that the call did not name itself.
 */
import { expect, test } from "vitest";
import { memoryKernel } from "../../support/memory-kernel.ts";

async function fixOf(path: string, options: Parameters<typeof memoryKernel>[0] = {}): Promise<string> {
  const { call } = await memoryKernel(options);
  const { outcome } = await call("write_file", { path, content: "" });
  return outcome.kind === "denied" ? (outcome.denial.fix ?? "none") : outcome.kind;
}

test("nothing but the default stands in the way: role, action, resource and effect of the permit that is missing", async () => {
  expect(await fixOf("src/a.ts", { preset: "reader" })).toBe(
    "an operator's permit for the role `dev`, the action `write_file` and the resource `service:src/a.ts` with the effect `write`; `handrail policy explain` prints it",
  );
});

test("a long name is repeated in part, and never broken in a character", async () => {
  const fix = await fixOf(`${"😀".repeat(600)}`, { preset: "reader" });
  expect(fix.length).toBeLessThan(500);
  expect(fix.isWellFormed()).toBe(true);
});

test("a forbid: that no permit lifts it, and which rule it is", async () => {
  const policies = `@id("own.none") forbid (principal, action, resource);`;
  expect(await fixOf("a", { policies })).toBe(
    "no permit lifts the rule `own.none`; do it another way, or ask the operator about that rule",
  );
});

test("a rule that fails: that the operator corrects it", async () => {
  const policies = `@id("own.overflow") permit (principal, action, resource) when { context.time * 9007199254740991 < 0 };`;
  expect(await fixOf("a", { policies })).toMatch(/^the operator corrects the policy/);
});

test("an obligation: the waiver of that very rule", async () => {
  expect(await fixOf("CLAUDE.md")).toBe('an operator\'s permit with @waives("dev.write-protected")');
});

test("a lease: its dimension and the path", async () => {
  expect(await fixOf("src/a.ts", { scope: { writePaths: [["docs/**"]] } })).toBe(
    "a lease whose writePaths include `src/a.ts`",
  );
});

test("a zone: that no permit opens it, without naming the patterns of the operator", async () => {
  for (const path of [".env", ".git/config", "handrail.yaml"])
    expect(await fixOf(path)).toMatch(/^no permit opens (?:a zone|it)/);
});

test("a path outside of the workspace: the same words, whatever lies there", async () => {
  expect(await fixOf("/etc/hostname")).toBe(await fixOf("/nowhere/at/all"));
});
