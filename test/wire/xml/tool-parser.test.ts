/** Calls in a model's text: Brio's tags, whatever stands around, between and inside of them. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TextEvent } from "../../../src/wire/xml/events.ts";
import { ToolParser } from "../../../src/wire/xml/tool-parser.ts";

const calls = (text: string) => new ToolParser().parse(text).calls.map(({ name, args }) => [name, args]);
const problems = (text: string) =>
  new ToolParser().parse(text).problems.map(({ line, column, message }) => `${line}:${column} ${message}`);

test("Brio's own examples", () => {
  const text = `<!-- Mark task completion -->
<done>
Successfully implemented the feature.
- Unit tests
</done>

<!-- Read a file -->
<read_file path="src/main.rs" />

<ls path="src/components" />

<write_file path="src/lib.rs">
pub fn hello() {
    println!("Hello, World!");
}
</write_file>

<shell>cargo build --release</shell>
`;
  expect(calls(text)).toEqual([
    ["done", { summary: "Successfully implemented the feature.\n- Unit tests\n" }],
    ["read_file", { path: "src/main.rs" }],
    ["ls", { path: "src/components" }],
    ["write_file", { path: "src/lib.rs", content: 'pub fn hello() {\n    println!("Hello, World!");\n}\n' }],
    ["shell", { command: "cargo build --release" }],
  ]);
  expect(problems(text)).toEqual([]);
});

describe("a body is taken as it stands", () => {
  test.each([
    ["other tools' tags", '<shell>rm -rf /</shell><ls path="/" />'],
    ["a comment", "<!-- <shell>ls</shell> -->"],
    ["signs", "a < b && c > d & é 😀 \0"],
    ["what looks like its name", "<write_files> </write_filex> <write_file_ >"],
    ["tags of its own name that are balanced", '<write_file path="b">x</write_file> and <write_file path="c"/>'],
    ["an entity", "&lt;&amp;"],
    ["only white space", "  "],
  ])("%s", (_, body) => {
    expect(calls(`<write_file path="a">${body}</write_file>`)).toEqual([["write_file", { path: "a", content: body }]]);
  });

  test.each([
    ["\nx\n", "x\n"],
    ["\r\nx", "x"],
    ["\n\nx", "\nx"],
    ["", ""],
  ])("one line end at its beginning is left out: %j", (body, content) => {
    expect(calls(`<write_file path="a">${body}</write_file>`)).toEqual([["write_file", { path: "a", content }]]);
  });

  test("CDATA hides tags, its own too, and may stand several times", () => {
    expect(
      calls('<write_file path="a"><![CDATA[</write_file><shell>x</shell>]]> and <![CDATA[]]]]></write_file>'),
    ).toEqual([["write_file", { path: "a", content: "</write_file><shell>x</shell> and ]]" }]]);
  });
});

test("attributes stand in either quotes, in any order, with entities", () => {
  expect(calls(`<read_file\n  path='a "b" &lt;&#65;&#x42;&gt;&amp;&quot;&apos;.ts'\t/>`)).toEqual([
    ["read_file", { path: `a "b" <AB>&"'.ts` }],
  ]);
  expect(calls('<ls path = "x"></ls>')).toEqual([["ls", { path: "x" }]]);
  const [[, args] = []] = calls('<ls __proto__="x" constructor="y" />') as [string, object][];
  expect(Object.keys(args ?? {})).toEqual(["__proto__", "constructor"]);
});

test("tags of other names, and signs that are no tags, are text", () => {
  const text = 'a < b <div class="x">text</div> <shellx>y</shellx> < shell> <> <//> </shell> <Shell>z</Shell>';
  expect(ToolParser.parse(text)).toEqual([{ kind: "text", text }]);
});

test.each([
  ["text\n  <shell>ls", "2:3 `<shell>` has no `</shell>`; nothing was called"],
  ["<shell a", "1:1 the tag `<shell` has no `>`"],
  ["a <!-- b", "1:3 a comment has no `-->`"],
  ["<ls path=x />", '1:1 the tag `<ls` has something that is no attribute; write name="value"; nothing was called'],
  ['<ls path="a" path="b" />', "1:1 the tag `<ls` has the attribute `path` twice; keep one; nothing was called"],
  [
    '<ls path="a &nbsp; b" />',
    "1:1 the tag `<ls` has an unknown entity in `path`; write & as &amp;; nothing was called",
  ],
  ['<ls path="a&#0;" />', "1:1 the tag `<ls` has an unknown entity in `path`; write & as &amp;; nothing was called"],
  ['<ls path="<x>" />', "1:1 the tag `<ls` has another `<` in it; write it as &lt;; nothing was called"],
  ["<ls>a</ls>", "1:1 `<ls>` takes no body; nothing was called"],
  ['<shell command="a">b</shell>', "1:1 `<shell>` has `command` as attribute and as body; keep one"],
  ["<shell><shell></shell>", "1:1 `<shell>` has no `</shell>`; nothing was called"],
  ["<shell><![CDATA[</shell>", "1:1 `<shell>` has no `</shell>`; nothing was called"],
])("%j is located and calls nothing", (text, message) => {
  expect(problems(text)).toEqual([message]);
  expect(calls(text)).toEqual([]);
});

test.each([
  "<ls path=x /> <shell>ls</shell>",
  "<write_file path=x><shell>ls</shell></write_file>",
  '<ls path="a" path="b" /><shell>ls</shell>',
])("behind a problem nothing is called: it may be the inside of something else (%s)", (text) => {
  expect(calls(text)).toEqual([]);
  expect(problems(text).at(-1)).toContain("`<shell>` is not called, because of what is wrong before it");
  expect(calls(text.replace("path=x", 'path="x"').replace(' path="b"', ""))).not.toEqual([]);
});

/** Texts that are made of what the parser looks at. */
const TEXTS = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ..."< > / \" ' = & ; - ! [ ] \n".split(" "),
        ...[
          "<shell>",
          "</shell>",
          "<shell ",
          "<ls ",
          'path="a"',
          "/>",
          "<!--",
          "-->",
          "<![CDATA[",
          "]]>",
          "<write_file ",
        ],
        ...["</write_file>", "&lt;", "text", "</shell  >", "<shell/>", "😀", "\r\n", "</", "<s"],
      ),
      fc.string({ maxLength: 5 }),
    ),
    { maxLength: 40 },
  )
  .map((pieces) => pieces.join(""));

test("events are the same however the text is cut, and all text that is no call stays", () => {
  fc.assert(
    fc.property(TEXTS, fc.array(fc.nat(), { maxLength: 10 }), (text, cuts) => {
      const whole = ToolParser.parse(text);
      const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((one, other) => one - other);
      expect(eventsOf(places.slice(1).map((end, index) => text.slice(places[index], end)))).toEqual(whole);
      expect(eventsOf(text.split(""))).toEqual(whole);
    }),
  );
});

/** The events of a text in pieces, with pieces of one text put together. */
function eventsOf(pieces: readonly string[]): readonly TextEvent[] {
  const parser = new ToolParser();
  const events = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
  const all: TextEvent[] = [];
  for (const event of events) {
    const last = all.at(-1);
    if (event.kind === "text" && last?.kind === "text")
      all[all.length - 1] = { kind: "text", text: last.text + event.text };
    else all.push(event);
  }
  return all;
}

test("a call is told as soon as it is complete", () => {
  const parser = new ToolParser();
  expect(parser.push("<shell>l")).toEqual([]);
  expect(parser.push("s</shel")).toEqual([]);
  expect(parser.push("l>")).toMatchObject([{ kind: "call", args: { command: "ls" }, offset: 0 }]);
});
