/** `handrail calls`: a model's text, its calls in order, and what comes of a text that is malformed. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const TEXT = `I will write and read.
<write_file path="a.txt">
one
</write_file>
<read_file path="a.txt" />
<read_file path="/etc/passwd" />
<done>read it</done>
`;

test("calls are made in order, up to the first that is refused; with --keep-going all are", async () => {
  const place = freshPlace();
  const file = place.put("answer.txt", TEXT);
  const args = ["calls", file, "--workspace", place.workspace];
  const stopped = await handrail(place, args);
  expect(stopped).toMatchObject({ code: 2, stdout: "wrote 4 bytes to a.txt\none\n" });
  expect(stopped.stderr).toContain("absolute paths are refused");
  expect(stopped.stderr).toContain("handrail: 1 more calls were not made");
  expect(readFileSync(join(place.workspace, "a.txt"), "utf8")).toBe("one\n");
  const all = await handrail(place, ["calls", "-", "--keep-going", "--json", "--workspace", place.workspace], {
    input: TEXT,
  });
  const { calls, left } = JSON.parse(all.stdout).data;
  expect([
    all.code,
    left,
    calls.map(({ tool, line, result }: never) => [tool, line, (result as { status: string }).status]),
  ]).toEqual([
    2,
    0,
    [
      ["write_file", 2, "success"],
      ["read_file", 5, "success"],
      ["read_file", 6, "error"],
      ["done", 7, "success"],
    ],
  ]);
});

test("a text with a malformed tag calls nothing and says where it is", async () => {
  const place = freshPlace();
  const file = place.put("answer.txt", '<write_file path="a.txt">x</write_file>\n<shell>ls');
  const { code, stdout, stderr } = await handrail(place, ["calls", file, "--workspace", place.workspace]);
  expect([code, stdout]).toEqual([64, ""]);
  expect(stderr).toContain("2:1: `<shell>` has no `</shell>`; nothing was called");
  expect(existsSync(join(place.workspace, "a.txt"))).toBe(false);
});

test("a call in a dialect takes its words from the dialect's schema", async () => {
  const place = freshPlace();
  const { code, stdout } = await handrail(place, [
    ...["call", "--dialect", "meao", "--preset", "open", "--workspace", place.workspace],
    ...["bash", "command=echo out; echo err >&2", "timeout=60000"],
  ]);
  expect([code, stdout]).toEqual([0, "out\n\nSTDERR:\nerr\n"]);
});
