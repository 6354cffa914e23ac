/** How fast calls are read out of a model's text, beside regular expressions for the same tags (Brio's own way). */
import { ToolParser } from "../../src/wire/xml/tool-parser.ts";
import { interleave, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const MEGABYTE = 1_000_000;
const PIECE = 4096;

const EXPRESSIONS = [
  /<done>([\s\S]*?)<\/done>/g,
  /<read_file\s+path="([^"]*)"\s*\/>/g,
  /<write_file\s+path="([^"]*)">([\s\S]*?)<\/write_file>/g,
  /<ls\s+path="([^"]*)"\s*\/>/g,
  /<shell>([\s\S]*?)<\/shell>/g,
];

/** A model's text: sentences, files that it writes, and short calls. */
function textOf(bytes: number): string {
  const sentence = "I will change the function so that it answers once, whatever the caller does meanwhile.\n";
  const file = "export function once(work: () => void): void {\n  if (a < b && c > d) work();\n}\n".repeat(40);
  const part = `${sentence.repeat(10)}<read_file path="src/a.ts" />\n<write_file path="src/a.ts">\n${file}</write_file>\n<shell>npm test</shell>\n`;
  return part.repeat(Math.ceil(bytes / part.length));
}

/** The figures. */
export async function measureXml(_: Playground, effort: Effort): Promise<Row[]> {
  const text = textOf(effort.rounds > 1 ? 20 * MEGABYTE : 2 * MEGABYTE);
  const perSecond = (work: () => number) => () => {
    const start = performance.now();
    if (work() === 0) throw new Error("nothing was found");
    return text.length / MEGABYTE / ((performance.now() - start) / 1000);
  };
  const whole = perSecond(() => new ToolParser().parse(text).calls.length);
  const pieces = perSecond(() => {
    const parser = new ToolParser();
    let calls = 0;
    for (let at = 0; at < text.length; at += PIECE)
      for (const event of parser.push(text.slice(at, at + PIECE))) if (event.kind === "call") calls += 1;
    return calls + parser.end().length;
  });
  const expressions = perSecond(() =>
    EXPRESSIONS.reduce((count, expression) => count + [...text.matchAll(expression)].length, 0),
  );
  for (const each of [whole, pieces, expressions]) each();
  const common = { peer: "regular expressions for each tag", unit: "MB/s", better: "higher" } as const;
  return [
    await interleave({ id: "xml-whole", what: "calls of a text, whole", ...common }, effort.rounds, whole, expressions),
    await interleave(
      { id: "xml-pieces", what: "calls of a text, in 4 KB pieces", ...common },
      effort.rounds,
      pieces,
      expressions,
    ),
  ];
}
