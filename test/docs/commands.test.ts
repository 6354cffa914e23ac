/** docs/reference/commands.md lists every command and option that `--help` shows, and no other. */
import { expect, test } from "vitest";
import { commandReference, shownCommands, withReference } from "../../scripts/command-reference.mjs";
import { handrail } from "../support/command-line.ts";
import { freshPlace } from "../support/place.ts";
import { readPage } from "./pages.ts";

const page = readPage("docs/reference/commands.md").text;

/** Whether the page is what the generator makes of `commands`. */
async function isCurrent(commands: Awaited<ReturnType<typeof shownCommands>>): Promise<boolean> {
  return withReference(page, commandReference(commands)) === page;
}

test("the page is what --help says; if not, run `node scripts/command-reference.mjs`", async () => {
  const commands = await shownCommands();
  expect(commands.length).toBeGreaterThan(60);
  expect(withReference(page, commandReference(commands))).toBe(page);
});

test("a new command, a new option and another meaning are noticed", async () => {
  const commands = await shownCommands();
  const [first, ...rest] = commands;
  if (first === undefined) throw new Error("there is no command");
  expect(await isCurrent(commands)).toBe(true);
  expect(await isCurrent([first, { ...first, name: "handrail planted" }, ...rest])).toBe(false);
  expect(await isCurrent([{ ...first, options: [...first.options, ["--planted", "a new one"]] }, ...rest])).toBe(false);
  expect(await isCurrent([{ ...first, description: "does something else" }, ...rest])).toBe(false);
});

test("what is listed is what a started command prints", async () => {
  const { stdout } = await handrail(freshPlace(), ["sessions", "create", "--help"]);
  const command = (await shownCommands()).find(({ name }) => name === "handrail sessions create");
  const oneLine = stdout.replace(/\s+/g, " ");
  expect(command?.options.length).toBeGreaterThan(10);
  for (const [flags, meaning] of command?.options ?? []) {
    expect(oneLine).toContain(`${flags} ${meaning}`.replace(/\s+/g, " "));
  }
});
