/**
 * Secrets of arguments stay out of evidence and prompts, however they are encoded and whatever analysis makes of them.
 */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { FileWriteSchema, ToolRequestSchema } from "../../../src/gen/handrail/tool/v1/tool_pb.ts";
import { ToolRegistry } from "../../../src/kernel/index.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { encodeRequest } from "../../../src/wire/codec.ts";
import { PASSWORD as LOGIN_PASSWORD, leftOf, SPELLINGS } from "../../support/addresses.ts";
import { type MemoryKernel, memoryKernel } from "../../support/memory-kernel.ts";

/** A definite secret, put together so that no file holds one. */
const KEY = ["AKIA", "QZ7X2M4NVB6LKDJH"].join("");
const PASSWORD = ["h7Kq", "pLw2Zx9v"].join("");

/** What stands around a secret, so that its encoding does not look like one by itself. */
const SETTINGS = "setting = a plain value\n".repeat(40);

/** A kernel in which every tool records its arguments and asks. */
async function recordingKernel(): Promise<MemoryKernel> {
  const kernel = await memoryKernel({ tools: [shell], preset: "meao" });
  const recording = new ToolRegistry();
  for (const tool of kernel.registry.current.getAll())
    recording.register({
      ...tool,
      capability: { ...tool.capability, audit: { ...tool.capability.audit, logArgs: true } },
    });
  kernel.registry.current = recording;
  return kernel;
}

/** Everything that is kept of the calls so far: the ledger, and what people would be shown. */
async function keptOf(kernel: MemoryKernel): Promise<string> {
  const asked = await kernel.asked.list(undefined, 100, kernel.time.nowMs);
  return JSON.stringify([kernel.ledger.events, asked]);
}

/** Forms in which `secret` could stand somewhere. */
function formsOf(secret: string, content: Buffer): readonly string[] {
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
      .toString("base64")
      .slice(4, -4),
  );
  return [secret, secret.toLowerCase(), content.toString("base64"), content.toString("hex"), ...shifted];
}

async function write(kernel: MemoryKernel, path: string, content: Uint8Array): Promise<void> {
  const tool = { case: "fileWrite" as const, value: create(FileWriteSchema, { path, content }) };
  const bytes = encodeRequest(create(ToolRequestSchema, { requestId: "w", sessionToken: kernel.token, tool }));
  await kernel.door.execute({ kind: "wire", bytes }, new AbortController().signal);
}

test.each([
  ["an address with a login", Buffer.from(`${SETTINGS}url = postgres://app:${PASSWORD}@db.internal:5432/x\n`)],
  ["text", Buffer.from(`${SETTINGS}key = ${KEY}\n`)],
  [
    "bytes around it that are no text",
    Buffer.concat([Buffer.from([0xff, 0xfe, 0x00]), Buffer.from(`${SETTINGS} key = ${KEY} `), Buffer.from([0x80])]),
  ],
])("bytes of the wire are recorded without their secrets: %s", async (_what, content) => {
  const kernel = await recordingKernel();
  await write(kernel, "a.txt", content);
  await write(kernel, "AGENTS.md", content); // asks, and is shown
  const kept = await keptOf(kernel);
  for (const form of [...formsOf(KEY, content), PASSWORD]) expect([form, kept.includes(form)]).toEqual([form, false]);
  expect(kept).toContain("a.txt");
});

test.each([
  ["an address with a login", `url = postgres://app:${PASSWORD}@db.internal:5432/x`, PASSWORD],
  ["a password by its name", `password = "${PASSWORD}"`, PASSWORD],
  ["a key", `key = ${KEY}`, KEY],
])("bytes that are no text keep nothing of %s in their recorded base64", async (_, line, secret) => {
  const kernel = await recordingKernel();
  for (const pad of ["", " ", "  "])
    await write(kernel, "a.bin", Buffer.concat([Buffer.from([0xff]), Buffer.from(`${pad}${line} ${SETTINGS}`)]));
  const kept = await keptOf(kernel);
  const recorded = [...kept.matchAll(/"bytes":"([^"]*)"/g)].map(([, text = ""]) => Buffer.from(text, "base64"));
  expect(recorded.length).toBeGreaterThanOrEqual(3);
  for (const bytes of recorded) {
    expect(bytes.includes(secret.slice(3, -3))).toBe(false);
    expect(bytes.includes("a plain value")).toBe(true); // the control: the rest is recorded
  }
});

test("bytes without secrets are recorded as the text that they are", async () => {
  const kernel = await recordingKernel();
  await write(kernel, "a.txt", Buffer.from("plain text, größer\n"));
  expect(await keptOf(kernel)).toContain("plain text, größer");
});

test("text that is a secret once it is decoded is not recorded either", async () => {
  const kernel = await recordingKernel();
  const content = Buffer.from(`${SETTINGS}key = ${KEY}\n`);
  for (const text of [content.toString("base64"), content.toString("base64url")])
    await kernel.call("put_content", { content: text, encoding: "base64" });
  const kept = await keptOf(kernel);
  for (const form of [...formsOf(KEY, content), PASSWORD]) expect([form, kept.includes(form)]).toEqual([form, false]);
  expect(kept).toContain("[REDACTED:base64]");
});

const LOGIN = `https://deploy:${PASSWORD}@git.example.org/team/r.git`;

test.each([
  ["read_file", { path: LOGIN }],
  ["read_file", { path: `./x//../${LOGIN}` }],
  ["read_file", { path: `https://deploy:${encodeURIComponent(`${PASSWORD}@é`)}@git.example.org/r` }],
  ["read_file", { path: `https://${PASSWORD}${PASSWORD}@git.example.org/r` }],
  ["list_files", { path: LOGIN }],
  ["write_file", { path: LOGIN, content: "x" }],
  ["write_file", { path: `docs/${LOGIN}/AGENTS.md`, content: "x" }],
  ["edit_file", { path: LOGIN, edits: [{ operation: "replace", match_mode: "exact", spec: "a", content: "b" }] }],
  ["search_file", { path: LOGIN, pattern: "a" }],
  ["shell", { command: `git clone ${LOGIN}`, network_access: true }],
  ["shell", { command: `curl -d x ${LOGIN} > ${LOGIN}`, cwd: LOGIN }],
  ["shell", { command: `cat < '${LOGIN}' 2> ${LOGIN}.log; "$x"` }],
  ["shell", { command: "env", env: [`REMOTE=${LOGIN.replaceAll("=", "")}`] }],
  ["shell", { command: `curl https://${KEY}.example.org/x`, network_access: true }],
  ["shell", { command: `${"true ".repeat(405)} ${LOGIN}; "$x"` }],
])("a login or key in the arguments of %s %j is nowhere in evidence, prompts or answers", async (tool, args) => {
  const kernel = await recordingKernel();
  const { outcome } = await kernel.call(tool, args as never);
  const kept = (await keptOf(kernel)) + JSON.stringify(outcome);
  const secrets = [PASSWORD, PASSWORD.toLowerCase(), KEY, KEY.toLowerCase(), PASSWORD.slice(0, 8)];
  for (const secret of secrets) expect([secret, kept.includes(secret)]).toEqual([secret, false]);
  expect(kept).toContain(tool);
});

/** Every byte of it by its number, as an address may have it. */
const percent = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");

test.each([
  ["read_file", { path: percent(KEY) }],
  ["read_file", { path: `docs/${percent(KEY).toUpperCase()}.md` }],
  ["read_file", { path: percent(percent(KEY)) }],
  ["read_file", { path: `a%ff%/${percent(KEY)}` }],
  ["read_file", { path: `x/${percent(LOGIN)}` }],
  ["read_file", { path: `A%4bIA${KEY.slice(4)}` }],
  ["write_file", { path: percent(KEY), content: "x" }],
  ["write_file", { path: `docs/${percent(KEY)}/AGENTS.md`, content: "x" }],
  ["search_file", { path: percent(KEY), pattern: "a" }],
  ["shell", { command: `curl https://example.org/${percent(KEY)} > ${percent(KEY)}`, network_access: true }],
])(
  "a secret whose characters are written by their numbers in the arguments of %s %j is nowhere in evidence or prompts",
  async (tool, args) => {
    const kernel = await recordingKernel();
    await kernel.call(tool, args as never);
    const kept = await keptOf(kernel);
    const plain = decodedAll(kept);
    for (const secret of [KEY, PASSWORD]) expect([secret, plain.includes(secret)]).toEqual([secret, false]);
    expect(kept).toContain(tool);
  },
);

/** What whoever reads the records can make of them. */
function decodedAll(text: string): string {
  const once = (one: string) =>
    one.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return `${text}${once(text)}${once(once(text))}`;
}

test("a path in which nothing is hidden is recorded as it was written", async () => {
  const kernel = await recordingKernel();
  await kernel.call("read_file", { path: "docs/100%25 %C3%A4.md" });
  expect(await keptOf(kernel)).toContain("docs/100%25 %C3%A4.md");
});

test.each([
  percent(KEY),
  `${KEY}\u200b`,
  Buffer.from(KEY).toString("base64"),
  `read file ${PASSWORD}`,
  "Ünbekannt",
  "x".repeat(65),
])("the name of an unknown tool is recorded only where it could be one: %j", async (tool) => {
  const kernel = await recordingKernel();
  await kernel.call(tool, {});
  const kept = await keptOf(kernel);
  expect([kept.includes(tool), kept.includes(`(no tool's name, ${tool.length} characters)`)]).toEqual([false, true]);
});

test("the control: a name that could be a tool's is recorded", async () => {
  const kernel = await recordingKernel();
  await kernel.call("read_everything", {});
  expect(await keptOf(kernel)).toContain("read_everything");
});

test.each(["https:/bob:PW@example.org/x", "https:///bob:PW@h", "sub/./postgres:/u:PW@h/db", "a//https://bob:PW@h/y"])(
  "a path with a login, %s, is kept without it, whatever the number of its slashes",
  async (form) => {
    const kernel = await recordingKernel();
    const path = form.replace("PW", PASSWORD);
    await write(kernel, path, Buffer.from("plain"));
    await kernel.call("read_file", { path });
    const kept = await keptOf(kernel);
    expect(kept).toContain("[REDACTED:url-password]");
    expect(kept).not.toContain(PASSWORD);
  },
);

test.each([...SPELLINGS, "ht\ttps:bob:PW@h", "https:\n//bob:P\tW@h", "https://bob:PW b@h", 'https://b"b:PW@h'])(
  "nothing of the password of %j is in evidence, prompts or answers",
  async (spelling) => {
    const kernel = await recordingKernel();
    const [first, second] = [LOGIN_PASSWORD.slice(0, 8), LOGIN_PASSWORD.slice(8)];
    const address = spelling.replace("PW", LOGIN_PASSWORD).replace("P\tW", `${first}\t${second}`);
    expect(new URL(address).password).not.toBe("");
    const outcomes: unknown[] = [];
    for (const path of [address, `docs/../${address}`, `sub/${address}/AGENTS.md`])
      for (const [tool, args] of [
        ["write_file", { path, content: "x" }],
        ["read_file", { path }],
        ["list_files", { path }],
        ["shell", { command: `cat '${path}' > '${path}.log'`, network_access: true }],
      ] as const)
        outcomes.push((await kernel.call(tool, args)).outcome);
    const kept = (await keptOf(kernel)) + JSON.stringify(outcomes);
    expect(leftOf(kept)).toEqual([]);
    expect(kept).toContain("url-password");
  },
);
