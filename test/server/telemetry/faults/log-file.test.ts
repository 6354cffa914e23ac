/** Log files that grow, that several kernels write, and that cannot be written. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { LogFile } from "../../../../src/server/telemetry/log-file.ts";
import { observedPlace } from "../../../support/observed-place.ts";
import { freshPlace } from "../../../support/place.ts";
import { SOON } from "../../../support/waiting.ts";

const KB = 1024;

function opened(path: string, more: Partial<ConstructorParameters<typeof LogFile>[0]> = {}) {
  const problems: string[] = [];
  const file = new LogFile({ path, bytesMax: 8 * KB, keep: 3, onProblem: (text) => void problems.push(text), ...more });
  return { file, problems };
}

const lineOf = (writer: string, number: number) => `${JSON.stringify({ writer, number, fill: "x".repeat(80) })}\n`;

test("a file is put aside when it is large, as many are kept as are wanted, and no line is cut", async () => {
  const path = join(freshPlace().base, "handrail.log");
  const { file, problems } = opened(path);
  for (let number = 0; number < 1000; number += 1) {
    file.write(lineOf("one", number));
    if (number % 20 === 19) await new Promise((done) => setImmediate(done));
  }
  await file.close();
  expect(problems).toEqual([]);
  expect(
    readdirSync(join(path, ".."))
      .filter((name) => name.startsWith("handrail.log"))
      .sort(),
  ).toEqual(expect.arrayContaining(["handrail.log.1"]));
  expect(existsSync(`${path}.4`)).toBe(false);
  for (const name of [path, `${path}.1`, `${path}.2`, `${path}.3`].filter((one) => existsSync(one))) {
    expect(statSync(name).mode & 0o777).toBe(0o600);
    for (const line of readFileSync(name, "utf8").trimEnd().split("\n")) if (line !== "") JSON.parse(line);
  }
});

test("two kernels that write one file lose no line while it is put aside", async () => {
  const path = join(freshPlace().base, "handrail.log");
  const writers = ["one", "two"].map((name) => ({ name, ...opened(path, { bytesMax: 16 * KB, keep: 90 }) }));
  for (let number = 0; number < 1500; number += 1) {
    for (const { name, file } of writers) file.write(lineOf(name, number));
    if (number % 10 === 9) await new Promise((done) => setTimeout(done, 1));
  }
  for (const { file } of writers) await file.close();
  expect(writers.flatMap(({ problems }) => problems)).toEqual([]);
  const names = readdirSync(join(path, "..")).filter((name) => /^handrail\.log(\.\d+)?$/.test(name));
  expect(names.length).toBeGreaterThan(1);
  const lines = names.flatMap((name) =>
    readFileSync(join(path, "..", name), "utf8")
      .trimEnd()
      .split("\n"),
  );
  const seen = new Set(lines.map((line) => `${JSON.parse(line).writer} ${JSON.parse(line).number}`));
  expect(seen.size).toBe(3000);
});

test("a file that somebody else put aside is begun anew", async () => {
  const path = join(freshPlace().base, "handrail.log");
  const { file } = opened(path);
  file.write("before\n");
  await vi.waitFor(() => expect(readFileSync(path, "utf8")).toBe("before\n"), SOON);
  renameSync(path, `${path}.old`);
  file.write("after\n");
  await file.close();
  expect(readFileSync(path, "utf8")).toBe("after\n");
});

test("a full disk is said once, lines are counted, and calls go on", async () => {
  const said: string[] = [];
  const write = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said.push(String(text));
    return true;
  });
  try {
    const { call, kernel } = await observedPlace("log: { file: /dev/full, levels: debug }\n");
    for (let count = 0; count < 20; count += 1)
      expect((await call("read_file", { path: "a.txt" })).outcome.kind).toBe("success");
    await vi.waitFor(() => expect(kernel.observation.telemetry()?.logLinesDropped).toBeGreaterThan(0), SOON);
    expect((await call("read_file", { path: "a.txt" })).outcome.kind).toBe("success");
    await kernel.close();
  } finally {
    write.mockRestore();
  }
  expect(said.filter((text) => text.includes("/dev/full"))).toHaveLength(1);
  expect(said.join("")).toMatch(/cannot be written \(ENOSPC\)/);
});

test.each(["a directory", "a link", "a missing directory"])("%s in place of the file is said once", async (what) => {
  const base = freshPlace().base;
  const path = what === "a missing directory" ? join(base, "none", "handrail.log") : join(base, "handrail.log");
  if (what === "a directory") mkdirSync(path);
  if (what === "a link") symlinkSync(join(base, "elsewhere"), path);
  const { file, problems } = opened(path);
  for (let number = 0; number < 5; number += 1) file.write(lineOf("one", number));
  await file.close();
  expect(problems).toHaveLength(1);
  expect(file.dropped).toBe(5);
  expect(existsSync(join(base, "elsewhere"))).toBe(false);
});

test("writing works again once the file can be written", async () => {
  const base = freshPlace().base;
  const path = join(base, "handrail.log");
  mkdirSync(path);
  const { file, problems } = opened(path, { retryMs: 1 });
  file.write("lost\n");
  await vi.waitFor(() => expect(problems).toHaveLength(1), SOON);
  rmSync(path, { recursive: true });
  await new Promise((done) => setTimeout(done, 5));
  file.write("kept\n");
  await file.close();
  expect(readFileSync(path, "utf8")).toBe("kept\n");
});

test("a file that cannot be put aside is written on to twice its size, and no further", async () => {
  const path = join(freshPlace().base, "handrail.log");
  mkdirSync(join(`${path}.1`, "in-the-way"), { recursive: true });
  const { file, problems } = opened(path, { keep: 1, retryMs: 0 });
  for (let number = 0; number < 1000; number += 1) {
    file.write(lineOf("one", number));
    if (number % 10 === 9) await new Promise((done) => setTimeout(done, 1));
  }
  await file.close();
  expect(problems[0]).toContain("cannot be put aside");
  expect(statSync(path).size).toBeLessThan(3 * 8 * KB + 1);
  expect(file.dropped).toBeGreaterThan(0);
});
