// Rules of git that could be slow, or mean something else, are refused with their place when settings are loaded.
import { expect, test } from "vitest";
import { readOperatorDirectory } from "../../../src/server/operator/operator-directory.ts";
import { freshPlace } from "../../support/place.ts";

test.each([
  ["look-ahead", "(?=a)b", /git\.branch_pattern: look-around/],
  ["a back-reference", "(a)\\1", /git\.branch_pattern: a back-reference/],
  ["repetitions without end", "(a{100}){100}", /git\.branch_pattern: its repetitions stand for/],
])("a pattern with %s is refused for all workspaces and for one", async (_what, pattern, problem) => {
  const place = freshPlace();
  place.put("config/handrail.yaml", `git: { branch_pattern: '${pattern}' }\n`);
  await expect(readOperatorDirectory(place.config)).rejects.toThrow(problem);
  place.put("config/handrail.yaml", `workspaces: [{ path: /w, git: { branch_pattern: '${pattern}' } }]\n`);
  await expect(readOperatorDirectory(place.config)).rejects.toThrow(/workspaces\.0\.git\.branch_pattern/);
});

test("a pattern that backtracks for ever elsewhere is taken, because here it does not", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "git: { message_pattern: '(a+)+b' }\n");
  expect((await readOperatorDirectory(place.config)).settings.git).toMatchObject({ message_pattern: "(a+)+b" });
});
