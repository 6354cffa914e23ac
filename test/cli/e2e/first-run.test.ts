/** `handrail init` suggests commands, and each of them works as it is printed. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environmentOf, handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const run = promisify(execFile);
/** Milliseconds for one command on a busy machine. */
const RUN_MS_MAX = 300_000;

test("the suggestions of init can be pasted, with its own directories where they were named", {
  timeout: 4 * RUN_MS_MAX,
}, async () => {
  const place = freshPlace();
  place.put("workspace/a.txt", "a\n");
  const state = `${place.base}/a state's`;
  const { code, stdout } = await handrail(place, ["init", "--state", state]);
  const suggested = stdout.split("\n").flatMap((line) => /^ {2}(.+?) +# /.exec(line)?.[1] ?? []);
  expect([code, suggested.length]).toEqual([0, 4]);
  const served = suggested.filter((command) => command.includes(" mcp "));
  const tried = suggested.filter((command) => !served.includes(command));
  for (const command of [...tried, `${served[0]} </dev/null`]) {
    const { stderr } = await run("sh", ["-c", command], {
      cwd: place.workspace,
      env: environmentOf(place),
      timeout: RUN_MS_MAX,
    });
    expect([command, stderr]).toEqual([command, ""]);
  }
  expect([existsSync(`${state}/ledger.db`), existsSync(place.state)]).toEqual([true, false]);
});
