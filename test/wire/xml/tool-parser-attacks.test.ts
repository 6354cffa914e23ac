/** Texts that are made to cost a parser much: twice the text takes about twice the time, in one piece and in many. */
import { expect, test } from "vitest";
import { ToolParser } from "../../../src/wire/xml/tool-parser.ts";

const MANY = 200_000;

const TEXTS: readonly (readonly [string, (count: number) => string])[] = [
  ["open tags", (count) => "<shell>".repeat(count)],
  ["open tags of two kinds", (count) => '<shell><write_file path="a">'.repeat(count / 2)],
  ["tags without an end", (count) => "<shell ".repeat(count)],
  ["tags without an end in a body", (count) => `<shell>${"<shell ".repeat(count)}`],
  ["quotes without an end", (count) => '<shell "'.repeat(count)],
  ["attributes", (count) => `<ls ${'path="a" '.repeat(count)}/>`],
  ["entities", (count) => `<ls path="${"&amp;".repeat(count)}" />`],
  ["signs", (count) => "<".repeat(count * 4)],
  ["begun names", (count) => "<shel".repeat(count)],
  ["closing tags", (count) => `<shell>${"</shell ".repeat(count)}`],
  ["spaces in a closing tag", (count) => `<shell>x</shell${" ".repeat(count * 4)}`],
  ["comments without an end", (count) => "<!--".repeat(count)],
  ["CDATA without an end", (count) => `<shell>${"<![CDATA[".repeat(count)}`],
  ["ends of CDATA", (count) => `<shell><![CDATA[${"]]".repeat(count)}`],
];

function timeOf(text: string, pieces: number): number {
  const parser = new ToolParser();
  const length = Math.ceil(text.length / pieces);
  const start = process.cpuUsage();
  for (let at = 0; at < text.length; at += length) parser.push(text.slice(at, at + length));
  parser.end();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}

test.each(TEXTS)("%s take time in proportion to their length", (_, textOf) => {
  for (const pieces of [1, 1000]) {
    timeOf(textOf(MANY / 8), pieces); // what is slow at first
    const short = timeOf(textOf(MANY / 4), pieces);
    const long = timeOf(textOf(MANY), pieces);
    // four times the text: linear is 4, quadratic 16; short times are noise
    expect([pieces, long]).toEqual([pieces, expect.toSatisfy((ms: number) => ms < Math.max(400, 10 * short))]);
  }
});
