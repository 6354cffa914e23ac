/** Components that change while the kernel runs: good ones are swapped, bad ones are not, and no call is dropped. */
import { chmodSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { blake3Hex } from "../../../../../src/base/hash.ts";
import { componentPlace, putComponent } from "../../../../support/component-place.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import { answers, ECHO, WORD_SCHEMA, watComponent } from "../../../../support/wat-component.ts";

const ONE = { execute: answers("one") };
const TWO = { execute: answers("two") };
const text = (words: string) => ({ kind: "success", data: { text: words } });
const digestOf = async (wish: object) => blake3Hex(await watComponent(wish));

test("a changed file takes effect, is recorded before, and calls that wait for a person end with the version before", async () => {
  const { place, kernel, approvals, call, said } = await componentPlace({
    preset: "dev",
    components: { own: ONE },
    files: {
      "config/policy/own.cedar":
        '@id("own.hostile")\n@message("it may")\npermit (principal, action == Handrail::Action::"hostile", resource is Handrail::Tool);\n',
    },
  });
  const asked = Promise.withResolvers<void>();
  const decision = Promise.withResolvers<boolean>();
  approvals.setHandler({
    request: () => {
      asked.resolve();
      return decision.promise;
    },
  });
  const waiting = call("hostile");
  await asked.promise;
  await putComponent(place, "own", TWO);
  await said("`hostile` is blake3:");
  decision.resolve(true);
  expect(await waiting).toMatchObject(text("one"));
  expect(await call("hostile")).toMatchObject(text("two"));
  await kernel.close();
  const loaded = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "plugin_loaded");
  expect(loaded.map(({ payload }) => payload)).toEqual([
    { module: "components/own.wasm", digest: await digestOf(ONE), inProcess: false, tools: ["hostile"] },
    {
      module: "components/own.wasm",
      digest: await digestOf(TWO),
      inProcess: false,
      tools: ["hostile"],
      replaces: await digestOf(ONE),
    },
  ]);
}, 120_000);

test("a call that runs goes on while another version takes over beside it", async () => {
  const looping = {
    execute: `(if (result i32) (i32.gt_u (local.get $size) (i32.const 30)) (then (loop $again (br $again)) unreachable) (else ${ECHO}))`,
  };
  const { place, session, call, said } = await componentPlace({ components: { own: looping } });
  const abort = new AbortController();
  let isOver = false;
  const running = session.call("hostile", { word: "x".repeat(40) }, { signal: abort.signal }).finally(() => {
    isOver = true;
  });
  expect(await call("hostile", { word: "a" })).toMatchObject(text('{"word":"a"}'));
  await putComponent(place, "own", TWO);
  await said("`hostile` is blake3:");
  expect(await call("hostile")).toMatchObject(text("two"));
  expect(isOver).toBe(false);
  abort.abort();
  expect((await running).response.outcome.kind).toBe("error");
}, 120_000);

test("no call is refused while versions follow one another", async () => {
  const { place, call, said } = await componentPlace({ components: { own: ONE } });
  let isOver = false;
  const outcomes = new Set<string>();
  const calling = (async () => {
    while (!isOver) {
      const outcome = await call("hostile");
      outcomes.add(outcome.kind === "success" ? String(outcome.data["text"]) : JSON.stringify(outcome));
    }
  })();
  for (const [index, version] of [TWO, ONE, TWO].entries()) {
    await putComponent(place, "own", version);
    await said("was replaced", index + 1);
  }
  isOver = true;
  await calling;
  expect([...outcomes].sort()).toEqual(["one", "two"]);
}, 180_000);

test.each([
  ["is cut off", async () => (await watComponent(TWO)).subarray(0, 300), "refused"],
  ["is none", async () => Buffer.from("no component"), "refused"],
  ["calls itself like a built-in", () => watComponent({ ...TWO, name: "shell" }), "another tool is called `shell`"],
  ["has a schema that takes anything", () => watComponent({ ...TWO, schema: "{}" }), "additionalProperties"],
  ["has a schema that is no JSON", () => watComponent({ ...TWO, schema: "{" }), "its schema is not JSON"],
  ["hides words in its description", () => watComponent({ ...TWO, description: "a\u200Bb" }), "all visible"],
])(
  "a changed file that %s is told, and the version before stays",
  async (_, made, words) => {
    const { place, kernel, call, said } = await componentPlace({ components: { own: ONE } });
    await putComponent(place, "own", await made());
    const [message] = await said("the changed component `own.wasm` is refused");
    expect(message).toContain(words);
    expect(message).toContain(`\`hostile\` stays blake3:${await digestOf(ONE)}`);
    expect(await call("hostile")).toMatchObject(text("one"));
    await putComponent(place, "own", TWO);
    await said("was replaced");
    expect(await call("hostile")).toMatchObject(text("two"));
    await kernel.close();
    const refused = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "plugin_refused");
    expect(refused.map(({ payload }) => payload)).toEqual([
      { module: "components/own.wasm", problem: expect.stringContaining(""), kept: await digestOf(ONE) },
    ]);
  },
  120_000,
);

test("a file that others may write takes no effect, and the same bytes in a file of one's own do", async () => {
  const { place, call, said } = await componentPlace({ components: { own: ONE } });
  const bytes = await watComponent(TWO);
  const file = join(place.config, "components/own.wasm");
  chmodSync(file, 0o666);
  writeFileSync(file, bytes);
  const [message] = await said("the changed component `own.wasm` is refused");
  expect(message).toContain("can be written by others");
  expect(await call("hostile")).toMatchObject(text("one"));
  chmodSync(file, 0o600);
  await said("was replaced");
  expect(await call("hostile")).toMatchObject(text("two"));
}, 120_000);

test("a pinned file is not replaced by another, until the pin says so", async () => {
  const pin = async (wish: object) => `components: { own: { digest: "blake3:${await digestOf(wish)}" } }\n`;
  const { place, call, said } = await componentPlace({ components: { own: ONE }, settings: await pin(ONE) });
  await putComponent(place, "own", TWO);
  const [message] = await said("the changed component `own.wasm` is refused");
  expect(message).toContain("not the pinned");
  expect(await call("hostile")).toMatchObject(text("one"));
  place.put("config/handrail.yaml", `preset: open\n${await pin(TWO)}`);
  await said("was replaced");
  expect(await call("hostile")).toMatchObject(text("two"));
}, 120_000);

test("settings that no longer grant what a version has end it, and so does a pin of another file", async () => {
  const { readFileSync } = await import("node:fs");
  const grep = readFileSync(new URL("../../../../../examples/components/built/brio-grep.wasm", import.meta.url));
  const granted = "components: { grep: { path_arguments: [path] } }\n";
  const { place, call, said } = await componentPlace({
    components: { grep, own: ONE },
    settings: granted,
    files: { "workspace/a.txt": "one\ntwo\n" },
  });
  expect(await call("brio_grep", { path: "a.txt", pattern: "two" })).toMatchObject(text("2: two"));
  place.put("config/handrail.yaml", `preset: open\ncomponents: { own: { digest: "blake3:${"0".repeat(64)}" } }\n`);
  await said("`brio_grep` is no tool any more");
  await said("`hostile` is no tool any more");
  for (const tool of ["brio_grep", "hostile"])
    expect(await call(tool)).toMatchObject({ kind: "denied", denial: { reason: "tool_spec_missing" } });
  place.put("config/handrail.yaml", `preset: open\n${granted}`);
  await said("is the tool `brio_grep` now");
  expect(await call("brio_grep", { path: "a.txt", pattern: "two" })).toMatchObject(text("2: two"));
}, 120_000);

test("a folder that comes later is read, its tools are judged by policies that name them, and a file removed ends its tool", async () => {
  const { place, kernel, call, said } = await componentPlace();
  expect(await call("late")).toMatchObject({ kind: "denied" });
  await putComponent(place, "late", { ...ONE, name: "late" });
  await said("is the tool `late` now");
  expect(await call("late")).toMatchObject(text("one"));
  place.put(
    "config/policy/own.cedar",
    '@id("own.no-late")\n@message("not late; call another")\nforbid (principal, action == Handrail::Action::"late", resource);\n',
  );
  await said("policy reloaded");
  expect(await call("late")).toMatchObject({ kind: "denied", denial: { ruleId: "own.no-late" } });
  rmSync(join(place.config, "components/late.wasm"));
  await said("`late` is no tool any more");
  expect(await call("late")).toMatchObject({ kind: "denied", denial: { reason: "tool_spec_missing" } });
  await kernel.close();
  const gone = (await readEvidence(place.state)).filter(({ entry }) => entry.eventType === "plugin_withdrawn");
  expect(gone.map(({ payload }) => payload["why"])).toEqual(["removed"]);
}, 120_000);

test("what a new version says it takes is what its calls are held to", async () => {
  const { place, call, said } = await componentPlace({ components: { own: ONE } });
  expect(await call("hostile", { word: "x" })).toMatchObject(text("one"));
  const other = WORD_SCHEMA.replace("word", "number");
  await putComponent(place, "own", { ...TWO, schema: other });
  await said("was replaced");
  expect(await call("hostile", { word: "x" })).toMatchObject({
    kind: "denied",
    denial: { reason: "tool_input_invalid" },
  });
  expect(await call("hostile", { number: "x" })).toMatchObject(text("two"));
}, 120_000);
