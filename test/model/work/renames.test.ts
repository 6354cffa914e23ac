// Which effects are two sides of one renaming: the same content and rights, of a directory all that lies in it.
import { expect, test } from "vitest";
import { renamesIn, type SidedEffect } from "../../../src/model/work/renames.ts";
import { piecesOf } from "../../support/turns.ts";

/** `-path=content` goes, `+path=content` comes, `~path` changes; a path that ends with `/` is a directory. */
function effects(...lines: readonly string[]): readonly SidedEffect[] {
  return lines.map((line) => {
    const [path = "", content] = line.slice(1).split("=");
    const kind = ({ "-": "delete", "+": "create", "~": "modify" } as const)[line[0] as "-" | "+" | "~"];
    const isDirectory = path.endsWith("/");
    return {
      path: isDirectory ? path.slice(0, -1) : path,
      kind,
      isDirectory,
      ...(content !== undefined && { likeness: content, isEmpty: content === "" }),
    };
  });
}

function found(...lines: readonly string[]): readonly string[] {
  return renamesIn(effects(...lines)).map(
    ({ from, to, isDirectory }) => `${isDirectory ? "directory " : ""}${from} -> ${to}`,
  );
}

const DIRECTORY = ["-d/", "-d/x=X", "-d/in/", "-d/in/y=Y", "-d/e="];

test.each<[string, readonly string[], readonly string[]]>([
  ["a file with the same content", ["-a=1", "+b=1"], ["a -> b"]],
  ["another content", ["-a=1", "+b=2"], []],
  ["what is unknown", ["-a", "+b"], []],
  ["a file that is changed", ["-a=1", "~b=1"], []],
  ["one of two that came", ["-a=1", "+b=1", "+c=1"], ["a -> b"]],
  ["one of two that went", ["-a=1", "-b=1", "+c=1"], ["a -> c"]],
  ["the one with the same name", ["-d/a=1", "+b=1", "+e/a=1"], ["d/a -> e/a"]],
  ["empty files of another name", ["-a=", "+b="], []],
  ["empty files of the same name", ["-d/a=", "+e/a="], ["d/a -> e/a"]],
  ["a directory", [...DIRECTORY, "+e/", "+e/x=X", "+e/in/", "+e/in/y=Y", "+e/e="], ["directory d -> e"]],
  [
    "a directory with something new in it",
    [...DIRECTORY, "+e/", "+e/x=X", "+e/in/", "+e/in/y=Y", "+e/e=", "+e/new=N"],
    ["d/e -> e/e", "directory d/in -> e/in", "d/x -> e/x"],
  ],
  ["a directory of which something is missing", [...DIRECTORY, "+e/", "+e/x=X"], ["d/x -> e/x"]],
  ["a directory beside one whose name begins so", ["-d/", "-d/x=1", "-d-x=2", "+e/", "+e/x=1"], ["directory d -> e"]],
  ["empty directories", ["-d/", "+e/"], []],
  ["a file in place of a directory", ["-d/", "-d/x=1", "+d=1"], ["d/x -> d"]],
])("%s", (_, lines, expected) => {
  expect([...found(...lines)].sort()).toEqual([...expected].sort());
});

test("many that are alike are found in time that goes with what there is, and of too many none", () => {
  const lines = (count: number) =>
    Array.from({ length: count }, (_, index) => [`-a/${index}=${index % 3}`, `+b/${index}=${index % 3}`]).flat();
  const pieces = piecesOf(() => {
    expect(found("-a/", "+b/", ...lines(4000))).toEqual(["directory a -> b"]);
    expect(found(...lines(4000))).toHaveLength(4000);
  });
  expect(pieces).toBeLessThan(100);
  expect(found(...lines(6000))).toEqual([]);
});
