/**
 * Edits as an oracle: whoever tries whole passwords on a file in which one is hidden gets through a few of them a
 * minute.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { systemRandom } from "../../../src/base/ids.ts";
import { SECRET_GUESS_WINDOW_MS, SECRET_GUESSES_MAX } from "../../../src/kernel/redaction/secret-guesses.ts";
import { createRedactor } from "../../../src/redact/redact.ts";
import { NO_RULES } from "../../../src/redact/rule-set.ts";
import { mintSession } from "../../../src/session/session.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";

/** Put together here, so that this file holds no secret. */
const PASSWORD = ["hunter2", "Hunter2"].join("-");
const NUMBERS = Array.from({ length: 40 }, (_, index) => index);

async function opened(options?: MemoryKernelOptions): Promise<MemoryKernel> {
  const kernel = await memoryKernel(options);
  writeFileSync(join(kernel.root, "a.txt"), `password = "${PASSWORD}"\nold\n`);
  writeFileSync(join(kernel.root, "plain.txt"), "nothing\n");
  return kernel;
}

const edit = ({ call }: MemoryKernel, spec: string, path = "a.txt", content = spec) =>
  call("edit_file", { path, edits: [{ operation: "replace", spec, content }] });
const guess = (kernel: MemoryKernel, text: string) => edit(kernel, `password = "${text}"`);
const codeOf = ({ outcome }: Awaited<ReturnType<MemoryKernel["call"]>>) =>
  outcome.kind === "error" ? outcome.code : outcome.kind;
const LIMITED = { kind: "error", code: "RATE_LIMITED", retryable: true };

describe("guesses of a whole password", () => {
  test("get to the limit, and then not even the right one is told from a wrong one", async () => {
    const kernel = await opened();
    const ends: string[] = [];
    for (const number of NUMBERS) ends.push(codeOf(await guess(kernel, `hunter2-wrong${number}`)));
    expect(ends).toEqual(
      NUMBERS.map((_, index) => (index < SECRET_GUESSES_MAX ? "MATCH_COUNT_MISMATCH" : "RATE_LIMITED")),
    );
    const [right, wrong] = [await guess(kernel, PASSWORD), await guess(kernel, "hunter2-Wrong2")];
    expect(right.outcome).toEqual(wrong.outcome);
    expect(right.outcome).toMatchObject({ ...LIMITED, retryAfterMs: SECRET_GUESS_WINDOW_MS });
    kernel.time.nowMs += SECRET_GUESS_WINDOW_MS;
    expect((await guess(kernel, PASSWORD)).outcome.kind).toBe("success");
  });

  test("several in one call get no further: the first that is wrong ends it", async () => {
    const kernel = await opened();
    const edits = NUMBERS.map((number) => ({
      operation: "replace",
      spec: `password = "hunter2-wrong${number}"`,
      content: "x",
    }));
    for (let index = 0; index < SECRET_GUESSES_MAX; index += 1)
      expect((await kernel.call("edit_file", { path: "a.txt", edits: edits.slice(index) })).outcome).toMatchObject({
        message: expect.stringContaining("`edits[0]`"),
      });
    expect((await guess(kernel, PASSWORD)).outcome).toMatchObject(LIMITED);
  });

  test("that are right but for a marker in the new text count too", async () => {
    const kernel = await opened();
    for (let index = 0; index < SECRET_GUESSES_MAX; index += 1)
      expect(codeOf(await edit(kernel, "old", "a.txt", "[REDACTED:named-secret]"))).toBe("denied");
    expect((await edit(kernel, "old", "a.txt", "new")).outcome).toMatchObject(LIMITED);
  });

  test("control: where nothing is hidden the right one of many is found", async () => {
    const kernel = await opened({ redactor: createRedactor({ rules: NO_RULES }) });
    for (const number of NUMBERS)
      expect(codeOf(await guess(kernel, `hunter2-wrong${number}`))).toBe("MATCH_COUNT_MISMATCH");
    expect((await guess(kernel, PASSWORD)).outcome.kind).toBe("success");
  });
});

test("edits that fit are not counted, however many, and the limit does not hold for files with nothing hidden", async () => {
  const kernel = await opened();
  for (const number of NUMBERS)
    expect(codeOf(await edit(kernel, number % 2 ? "new" : "old", "a.txt", number % 2 ? "old" : "new"))).toBe("success");
  for (const _ of NUMBERS) expect(codeOf(await edit(kernel, "missing", "plain.txt"))).toBe("MATCH_COUNT_MISMATCH");
  for (const number of NUMBERS) await guess(kernel, `hunter2-wrong${number}`);
  expect((await edit(kernel, "old")).outcome).toMatchObject(LIMITED);
  expect(codeOf(await edit(kernel, "nothing", "plain.txt"))).toBe("success");
  expect(readFileSync(join(kernel.root, "a.txt"), "utf8")).toContain(PASSWORD);
});

test("a new session of the same principal goes on counting, and a limited call may be sent again", async () => {
  const kernel = await opened();
  for (const number of NUMBERS) await guess(kernel, `hunter2-wrong${number}`);
  const { userId, agentId, role, serviceRoot, projectRoot, isolationLevel, leaseId, preset } = kernel.session;
  const wanted = {
    userId,
    agentId,
    role,
    serviceRoot,
    projectRoot,
    isolationLevel,
    leaseId,
    preset,
    lifetimeMs: 3_600_000,
  };
  const { token } = await mintSession(kernel.sessions, wanted, { nowMs: kernel.time.nowMs, random: systemRandom });
  const deleteOld = () =>
    kernel.call(
      "edit_file",
      { path: "a.txt", edits: [{ operation: "delete", spec: "old\n" }] },
      { token, dedupeKey: "once" },
    );
  expect((await deleteOld()).outcome).toMatchObject(LIMITED);
  kernel.time.nowMs += SECRET_GUESS_WINDOW_MS;
  expect((await deleteOld()).outcome.kind).toBe("success");
});
