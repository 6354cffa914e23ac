/** Which scripts of sed start a program. */
import { expect, test } from "vitest";
import { sedRuns } from "../../../../src/tools/shell/gadgets/scripts.ts";

test.each([
  "e",
  "1e id",
  "1eid",
  "$!{e id\n}",
  "/x/e id",
  "/x/,/y/!e",
  "\\,x,e",
  "s/a/b/e",
  "s/a/b/ge",
  "s/a/b/ e",
  "s#a#b#e",
  "s|a\\|b|c|e",
  "s/[/]/x/e",
  "s/[]/]/x/e",
  "s/[^/]*/x/e",
  ":a;s/a/b/e",
  "ba;e",
  "p;p;1,5{p;e}",
  "y/a/b/;e",
  "a text\ne id",
  "s/a/b",
  "k",
])("%j starts one, or is not understood", (script) => {
  expect(sedRuns(script)).toBe(true);
});

test.each([
  "",
  "1p",
  "s/a/b e/g",
  "s/e/e/",
  "s/a/e\\/e/",
  "s,e;e,e;e,",
  "y/e/f/",
  "a e id",
  "i\\\ne id",
  "/e/d",
  "/a/,/e/d",
  "0~2p",
  "$!N;P;D",
  ":a;N;$!ba;s/\\n/ /g",
  "r e",
  "w e",
  "# e",
  "1,5{s/x/y/;p}",
  "s/a/b/w e",
  "s/[^e]*/e/",
  "s/[[:space:]]/e/",
])("%j starts none", (script) => {
  expect(sedRuns(script)).toBe(false);
});
