/** A reader who stops reading, as `head` does, is no failure of the command; an output without room is one. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environmentOf } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";
import { ENTRY } from "../../support/program.ts";

const run = promisify(execFile);

/** What a shell prints for `line`, in which `h` is the command line. */
async function printed(line: string) {
  const place = freshPlace();
  const environment = environmentOf(place, { NODE: process.execPath, ENTRY, HANDRAIL_PLACE: place.workspace });
  const script = `h() { "$NODE" "$ENTRY" "$@"; }; ${line}`;
  const { stdout, stderr } = await run("bash", ["-c", script], { env: environment });
  return { stdout, stderr };
}

test.each(["h completion zsh", "h wire descriptor", "yes 'a line of text' | head -c 3000000 | h redact"])(
  "%s | true says nothing and ends well",
  async (line) => {
    const { stdout, stderr } = await printed(`${line} | true; echo "\${PIPESTATUS[-2]}"`);
    expect({ stdout, stderr }).toEqual({ stdout: "0\n", stderr: "" });
  },
);

test("an output without room is told in a line, and the exit code is 1", async () => {
  const { stdout, stderr } = await printed('h completion zsh > /dev/full; echo "$?"');
  expect(stdout).toBe("1\n");
  expect(stderr).toMatch(/^handrail: standard output cannot be written \(ENOSPC\)[^\n]*\n$/);
});

test("a log without room ends nothing: a command says by its exit code what it would have said in a line", async () => {
  const call = 'h call read_file path=none --workspace "$HANDRAIL_PLACE"';
  const control = await printed(`${call}; echo "$?"`);
  expect(control.stderr).toContain("FILE_NOT_FOUND");
  expect(control.stdout).toBe("3\n");
  const { stdout } = await printed(`${call} 2> /dev/full; echo "$?"`);
  expect(stdout).toBe("3\n");
}, 120_000);
