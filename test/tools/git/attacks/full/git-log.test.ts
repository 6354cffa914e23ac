// What a log shows of files that the call may not read. Plain git shows all of it.
import { expect, test } from "vitest";
import type { JsonObject } from "../../../../../src/base/json.ts";
import { git } from "../../../../../src/tools/git/git.ts";
import { newRepository } from "../../../../support/git-place.ts";
import { memoryKernel } from "../../../../support/memory-kernel.ts";

async function place() {
  const kernel = await memoryKernel({ tools: [git], preset: "open" });
  const plain = newRepository(kernel.root);
  const ask = async (operation: string, ...args: readonly string[]): Promise<JsonObject> => {
    const { outcome } = await kernel.call("git", { operation, args });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return outcome.kind === "success"
      ? outcome.data
      : { failed: true, code: outcome.kind === "error" ? outcome.code : outcome.denial.reason };
  };
  return { plain, ask };
}

const SHAPES = ["-p", "--stat", "--name-only", "--numstat", "--name-status", "--summary"];

test("a commit that takes the place of one about secret files alone is shown without its own", async () => {
  const { plain, ask } = await place();
  plain.commit("first", { "a.txt": "alpha\n", "secrets/deep/one": "hidden-one\n" });
  plain.commit("second", { "b.txt": "beta\n", "secrets/two": "hidden-two\n", "config/.env": "hidden-three\n" });
  for (let index = 0; index < 20; index += 1)
    plain.commit(`of secrets ${index}`, { [`secrets/k${index}`]: `hidden-k${index}\n` });
  for (const shape of SHAPES) {
    for (const [count, ...more] of [
      ["1"],
      ["2"],
      ["50"],
      ["1", "--skip=1"],
      ["2", "--reverse"],
      ["1", "--first-parent"],
    ] as const) {
      const shown = await ask("LOG", shape, "-n", count, ...more);
      expect([shape, count, more, JSON.stringify(shown)]).toEqual([
        shape,
        count,
        more,
        expect.not.stringMatching(/hidden|secrets\/|\.env|failed/),
      ]);
    }
  }
  expect(plain.git("log", "-p", "-n", "1")).toContain("hidden-k19");
  expect(plain.git("log", "-p", "-n", "1", "--", ":(top)", ":(top,exclude)secrets/k*")).toContain("hidden-two");
  expect(await ask("LOG", "-p", "-n", "1")).toMatchObject({
    commits: [{ subject: "second" }],
    files: [{ path: "b.txt" }],
    text: expect.stringContaining("+beta"),
  });
  expect(await ask("LOG", "-p", "-n", "2", "--", "a.txt", "b.txt")).toMatchObject({
    commits: [{ subject: "second" }, { subject: "first" }],
  });
});

test("where more files would have to be left out than can be named, the log is refused, and without changes it is not", async () => {
  const { plain, ask } = await place();
  const many = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`secrets/k${index}`, "hidden\n"]));
  plain.commit("many", { ...many, "a.txt": "alpha\n" });
  expect(await ask("LOG", "-p")).toMatchObject({ failed: true, code: "NOT_SUPPORTED" });
  expect(await ask("LOG", "-p", "--", "a.txt")).toMatchObject({ text: expect.stringContaining("+alpha") });
  expect(await ask("LOG")).toMatchObject({ commits: [{ subject: "many" }] });
});

test("a secret in a message cannot be guessed by searching; plain git tells it letter by letter", async () => {
  const { plain, ask } = await place();
  const secret = `AKIA${"QRSTUVWXYZ234567"}`;
  plain.commit("begin with nothing", { "a.txt": "a\n" });
  plain.commit(`use ${secret} for now`, { "b.txt": "b\n" });
  plain.commit("use another one", { "c.txt": "c\n" });
  expect(plain.git("log", "--format=%s", `--grep=${secret.slice(0, 8)}`)).toContain("for now");
  expect(plain.git("log", "--format=%s", "--grep=AKIAX")).toBe("");
  expect(JSON.stringify(await ask("LOG"))).not.toContain(secret);
  const subjects = async (...args: readonly string[]) =>
    ((await ask("LOG", ...args)) as { commits: { subject: string }[] }).commits.map(({ subject }) => subject);
  for (const guess of [secret, secret.slice(0, 8), "AKIAX", "AKIA[A-Z]"])
    expect([guess, await subjects(`--grep=${guess}`)]).toEqual([guess, []]);
  for (const guess of ["AKIAQ", "AKIAX"])
    expect(await subjects("-n", "1", "--grep=use another", `--grep=${guess}`)).toEqual(["use another one"]);
  expect(await subjects("--grep=use")).toEqual(["use another one"]);
  expect(await subjects("--author=Ada")).toEqual(["use another one", "begin with nothing"]);
  expect(await subjects("--author=Ada", "--reverse")).toEqual(["begin with nothing", "use another one"]);
  expect(await subjects("--author=Ada", "--skip=1", "-n", "1")).toEqual(["begin with nothing"]);
  expect(await subjects("--author=Ada", "--", "a.txt")).toEqual(["begin with nothing"]);
  expect(await subjects("-F", "-i", "--grep=NOTHING", "-p")).toEqual(["begin with nothing"]);
  expect(await ask("LOG", "-p", "--grep=nothing")).toMatchObject({
    text: expect.stringContaining("+a"),
    files: [{ path: "a.txt" }],
  });
});

test.each(["-Shidden", "-Ghidden", "--pickaxe-all"])("%s is refused: it would find what is hidden", async (option) => {
  const { plain, ask } = await place();
  plain.commit("begin", { "a.txt": "a\n", ".env": "hidden\n" });
  if (option !== "--pickaxe-all") expect(plain.git("log", "--format=%s", option)).toBe("begin\n");
  expect(await ask("LOG", option)).toEqual({ failed: true, code: expect.stringMatching(/input_invalid|validation/i) });
});

test("arguments that are longer together than the machine takes are refused, and nothing is unknown", async () => {
  const { plain, ask } = await place();
  plain.commit("first", { "a.txt": "alpha\n" });
  const long = Array.from({ length: 90 }, () => `--grep=${"a".repeat(30_000)}`);
  expect(await ask("LOG", ...long)).toMatchObject({ failed: true, code: "NOT_SUPPORTED" });
  expect(await ask("LOG", ...long.slice(0, 4))).not.toHaveProperty("failed");
});
