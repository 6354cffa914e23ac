// The manual page names every command with its options, and nothing of it is taken for a request to the formatter.
import { expect, test } from "vitest";
import { shownCommands } from "../../scripts/command-reference.mjs";
import { manualPage, roffText } from "../../scripts/package/manual-page.mjs";

/** Requests that the page uses. */
const REQUESTS = [".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi"];

test("every command has a section with its options", async () => {
  const lines = (await manualPage(".")).split("\n");
  for (const { name, options } of await shownCommands()) {
    const from = lines.indexOf(`.SS ${name.replaceAll("-", "\\-")}`);
    expect(from, name).toBeGreaterThan(0);
    const section = lines.slice(
      from,
      lines.findIndex((line, at) => at > from && line.startsWith(".S")),
    );
    for (const [flags] of options) expect(section).toContain(`\\fB${flags.replaceAll("-", "\\-")}\\fR`);
  }
});

test("only requests that are meant begin a line, and hyphens can be copied", async () => {
  const page = await manualPage(".");
  const requests = page.match(/^[.'].*$/gm)?.map((line) => line.split(" ", 1)[0]) ?? [];
  expect(requests.filter((request) => !REQUESTS.includes(request ?? ""))).toEqual([]);
  expect(page.match(/(?<!\\)-/g)).toBeNull();
  expect(roffText(".a\n'b\n-c\\")).toBe("\\&.a\n\\&'b\n\\-c\\e");
});
