// Which names complete or feed the shape of a git repository, in every order in which they can be made.
import { expect, test } from "vitest";
import { pathShapesRepository, shapesRepository } from "../../../src/model/place/repository-shape.ts";

const NAMES = ["HEAD", "objects", "refs", "config"];

function orders(names: readonly string[]): readonly (readonly string[])[] {
  return names.length === 0
    ? [[]]
    : names.flatMap((name) => orders(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
}

test.each(orders([...NAMES, "commondir"]).map((order) => [order]))(
  "made in the order %j, no look-alike is completed",
  (order) => {
    const made = new Set<string>();
    for (const name of order) if (!shapesRepository(name, (other) => made.has(other))) made.add(name);
    expect(made).not.toContain("HEAD");
  },
);

test.each([
  ["config", ["HEAD"], true],
  ["CONFIG", ["HEAD"], true],
  ["hooks", ["HEAD", "objects", "refs"], true],
  ["commondir", ["HEAD"], true],
  ["objects", ["HEAD"], true],
  ["head", ["objects"], true],
  ["head", [], false],
  ["refs", ["objects"], true],
  ["config", ["objects", "refs"], false],
  ["objects", [], false],
  ["main.ts", ["HEAD", "objects", "refs"], false],
] as const)("`%s` beside %j: %s", (name, beside, expected) => {
  expect(shapesRepository(name, (other) => (beside as readonly string[]).includes(other))).toBe(expected);
});

test("a path is looked at in every directory that it leads through, and the disk only where a name could matter", () => {
  const asked: string[] = [];
  const has = (path: string) => {
    asked.push(path);
    return path === "a/bare.git/HEAD";
  };
  expect(pathShapesRepository("a/bare.git/hooks/post-checkout", has)).toBe(true);
  expect(pathShapesRepository("a/other/config", has)).toBe(false);
  expect(pathShapesRepository("config", has)).toBe(false);
  asked.length = 0;
  expect(pathShapesRepository("src/main.ts", has)).toBe(false);
  expect(asked).toEqual([]);
});
