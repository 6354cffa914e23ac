// What `handrail branches` prints of a difference: all paths, first those that a person should know of.
import { afterEach, expect, test, vi } from "vitest";
import { showDifference } from "../../../src/cli/commands/branch-difference.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

test("every path is printed, obeyed ones first with their reason, and what was not shown is counted", () => {
  const printed: string[] = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  showDifference(
    {
      files: [
        { path: "CLAUDE.md", change: "create", kind: "file", bytes: 1, mode: "0644", notice: "agents\u202e read it" },
        { path: "big", change: "create", kind: "file", bytes: 9, mode: "0644", isNamedOnly: true },
      ],
      namedOnly: 1,
      nested: ["lib"],
      changesRepository: false,
      references: [],
      areReferencesKnown: true,
    },
    { name: "one" },
  );
  const text = printed.join("");
  expect(text).toMatch(/^files that tools obey.*\n {2}create CLAUDE\.md, 1 bytes, rights 0644: agents.* read it\n/);
  expect(text).not.toContain("\u202e");
  expect(text).toContain("create big, 9 bytes\n(its content is not shown)\n");
  expect(text).toContain("commits of lib are not brought back");
  expect(text).toContain("1 file was shown by name only; `handrail branches diff one --path FILE`");
});
