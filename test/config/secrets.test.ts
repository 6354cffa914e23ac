/** `secrets` in `handrail.yaml`: what can be bound to what, and changes of the file that change nothing else. */
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";
import { editSecret, writtenSecret } from "../../src/config/secret-edit.ts";

const PLACEHOLDER = "placeholder_of_a_secret";
const parse = async (binding: object, more: object = {}) => {
  const secret = { from: { env: "A" }, placeholder: PLACEHOLDER, bindings: [binding], ...more };
  return (await parseSettings(JSON.stringify({ secrets: { KEY: secret } }), "handrail.yaml")).secrets["KEY"]
    ?.bindings[0];
};

test.each([
  ["header Authorization", { kind: "header", name: "Authorization" }],
  ["query key", { kind: "query", name: "key" }],
  ["basic", { kind: "basic" }],
  ["body auth.key", { kind: "body", name: "auth.key" }],
  ["aws AKIAIOSFODNN7EXAMPLE", { kind: "aws", accessKeyId: "AKIAIOSFODNN7EXAMPLE" }],
  ["hmac X-Sig sha256 sha256=", { kind: "hmac", name: "X-Sig", hash: "sha256", prefix: "sha256=" }],
])("a place: %s", async (words, place) => {
  expect(await parse({ to: "API.example.", in: words })).toEqual({ host: "api.example", port: 443, path: "/", place });
});

test.each([
  [{ to: "*.example", in: "basic" }, /to/],
  [{ to: "api.example", in: "header Cookie" }, /never stands in `Cookie`/],
  [{ to: "api.example", in: "header user-agent" }, /never stands in/],
  [{ to: "api.example", in: "header Host" }, /never stands in/],
  [{ to: "api.example", in: "somewhere" }, /must be `header NAME`/],
  [{ to: "api.example", in: "basic", add: "x {}" }, /goes with `in: header NAME` alone/],
  [{ to: "api.example", in: "header A", add: "Bearer" }, /must hold `\{\}`/],
  [{ to: "api.example", in: "basic", path: "/a/../b" }, /must not hold/],
  [{ to: "api.example", in: "basic", path: "/a%2e" }, /without escapes/],
  [{ to: "api.example", in: "basic", methods: ["get"] }, /must be a method/],
])("what cannot be bound: %j", async (binding, problem) => {
  await expect(parse(binding)).rejects.toThrow(problem);
});

test("names that programs obey, short placeholders and placeholders within each other are refused", async () => {
  const secret = (placeholder: string) => ({
    from: { env: "A" },
    placeholder,
    bindings: [{ to: "a.example", in: "basic" }],
  });
  const all = (secrets: object) => parseSettings(JSON.stringify({ secrets }), "handrail.yaml");
  await expect(all({ PATH: secret(PLACEHOLDER) })).rejects.toThrow(/meaning of its own/);
  await expect(all({ LD_PRELOAD: secret(PLACEHOLDER) })).rejects.toThrow(/meaning of its own/);
  await expect(all({ A: secret("short") })).rejects.toThrow(/placeholder/);
  await expect(all({ A: secret(PLACEHOLDER), B: secret(`${PLACEHOLDER}2`) })).rejects.toThrow(/is that of `A`/);
});

const FILE = `# what is mine
preset: dev   # stays
secrets:
  OTHER: { from: { env: B }, placeholder: another_placeholder_1, bindings: [{ to: b.example, in: basic }] }
`;
const WRITTEN = { from: { env: "A" }, placeholder: PLACEHOLDER, bindings: [{ to: "a.example", in: "basic" }] };

test("a secret is added and taken out again, and everything else stays as it is written", async () => {
  const added = await editSecret(FILE, "handrail.yaml", { name: "KEY", written: WRITTEN });
  expect(added.startsWith("# what is mine\npreset: dev # stays\n")).toBe(true);
  expect(writtenSecret(added, "KEY")).toEqual(WRITTEN);
  const removed = await editSecret(added, "handrail.yaml", { name: "KEY", written: undefined });
  expect((await parseSettings(removed, "handrail.yaml")).secrets).toEqual(
    (await parseSettings(FILE, "handrail.yaml")).secrets,
  );
  const first = await editSecret("", "handrail.yaml", { name: "KEY", written: WRITTEN });
  expect(await editSecret(first, "handrail.yaml", { name: "KEY", written: undefined })).toBe("{}\n");
});

test("what would not be valid afterwards is refused, and so is a file that is none before", async () => {
  await expect(editSecret(FILE, "f", { name: "KEY", written: { ...WRITTEN, bindings: [] } })).rejects.toThrow(
    /bindings/,
  );
  await expect(editSecret("presett: dev\n", "f", { name: "KEY", written: WRITTEN })).rejects.toThrow(
    /unrecognized key/,
  );
});
