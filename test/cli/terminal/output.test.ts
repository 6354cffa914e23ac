// What the command line writes: nothing in it that a terminal obeys, whoever chose it, and JSON that reads back as the
// same.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { print, printJson, say, visible } from "../../../src/cli/terminal/output.ts";

/** Bidirectional controls, C0 but line feed and tab, DEL, C1, halves of pairs, line and paragraph separators, tags. */
const OBEYED = [
  ...[
    0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069, 0x200e, 0x200f, 0x61c, 0x2028, 0x2029,
    0xfeff, 0xe0041,
  ],
  ...Array.from({ length: 0x20 }, (_, code) => code).filter((code) => code !== 0x0a && code !== 0x09),
  ...Array.from({ length: 0x21 }, (_, at) => 0x7f + at),
].map((code) => String.fromCodePoint(code));
const HALVES = ["\ud800", "\udfff"];

/** What was written to a stream while `write` ran. */
function writtenTo(stream: "stdout" | "stderr", write: () => void): string {
  const pieces: string[] = [];
  const spy = vi.spyOn(process[stream], "write").mockImplementation((piece) => Boolean(pieces.push(String(piece))));
  onTestFinished(() => spy.mockRestore());
  write();
  spy.mockRestore();
  return pieces.join("");
}

test.each([...OBEYED, ...HALVES].map((character) => [character.codePointAt(0)?.toString(16), character]))(
  "U+%s reaches no terminal as it is",
  (_code, character) => {
    const text = `a${character}b`;
    for (const shown of [
      writtenTo("stdout", () => print(text)),
      writtenTo("stderr", () => say(text)),
      writtenTo("stdout", () => printJson({ [text]: text })),
      visible(text),
    ])
      expect(shown.includes(character)).toBe(false);
    expect(JSON.parse(writtenTo("stdout", () => printJson({ [text]: text }))).data).toEqual({ [text]: text });
  },
);

test("lines, tabs and every other letter stay; a part of a line has no line feeds", () => {
  const text = "größer\tשלום\n  日本 👍🏽";
  expect(writtenTo("stdout", () => print(text))).toBe(`${text}\n`);
  expect(visible("a\nb\tc")).toBe("a⟨U+000A⟩b⟨U+0009⟩c");
});

test("no command writes to a terminal by another way, but for bytes, progress and the screen of `watch`", () => {
  const directory = fileURLToPath(new URL("../../../src/cli", import.meta.url));
  const writers = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .filter((name) =>
      /std(?:out|err)\.write|console\.|\bprintRow\(/.test(readFileSync(`${directory}/${name}`, "utf8")),
    );
  expect(writers.sort()).toEqual([
    "approvals/always-allow.ts",
    "approvals/approval-effects.ts",
    "approvals/approval-watch.ts",
    "commands/approvals.ts",
    "commands/cas.ts",
    "commands/ledger.ts",
    "commands/redact.ts",
    "commands/wire.ts",
    "installed.ts",
    "terminal/output.ts",
  ]);
});
