/** Values of secrets where they are kept: read, read again, refused. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import { secretsOf } from "../../../src/server/secrets/secret-values.ts";
import { freshPlace } from "../../support/place.ts";

const PLACEHOLDER = "placeholder_of_a_secret";

async function settingsWith(from: object) {
  const bindings = [{ to: "api.example", in: "basic" }];
  const settings = { secrets: { KEY: { from, placeholder: PLACEHOLDER, bindings } } };
  return { settings: await parseSettings(JSON.stringify(settings), "handrail.yaml") };
}

const valueIn = async (from: object, environment = {}) => {
  const { broker, problems } = await secretsOf(await settingsWith(from), environment);
  return [broker.secrets[0]?.value, problems.get("KEY")];
};

test("of the environment", async () => {
  expect(await valueIn({ env: "A" }, { A: " value-01\n" })).toEqual(["value-01", undefined]);
  expect(await valueIn({ env: "A" })).toEqual([undefined, expect.stringContaining("the variable `A` holds no value")]);
  expect(await valueIn({ env: "A" }, { A: "a\nb-c-d-e-f" })).toEqual([
    undefined,
    expect.stringContaining("in one line"),
  ]);
});

test("of a file: only of one that nobody else reads, and again when it has changed", async () => {
  const { base } = freshPlace();
  const file = join(base, "key");
  writeFileSync(file, "value-01\n", { mode: 0o600 });
  const operator = await settingsWith({ file });
  const first = await secretsOf(operator, {});
  expect([first.broker.secrets[0]?.value, first.isCurrent()]).toEqual(["value-01", true]);
  expect(await secretsOf(operator, {})).toBe(first);
  writeFileSync(file, "value-022\n");
  expect(first.isCurrent()).toBe(false);
  const second = await secretsOf(operator, {}, { before: first.known });
  expect(second.broker.secrets[0]?.value).toBe("value-022");
  // what was started with the old one may still say it
  expect(second.known.map(({ value }) => value)).toEqual(["value-022", "value-01"]);
  chmodSync(file, 0o644);
  expect(await valueIn({ file })).toEqual([undefined, expect.stringContaining("can be read by others")]);
});

test("of a program, which gets nothing of the kernel's environment", async () => {
  const { base } = freshPlace();
  const program = join(base, "pass");
  writeFileSync(program, '#!/bin/sh\ntest -z "$KERNEL_ONLY" && echo "value-$1-none"\n', { mode: 0o755 });
  process.env["KERNEL_ONLY"] = "seen";
  try {
    expect(await valueIn({ command: [program, "x"] })).toEqual(["value-x-none", undefined]);
  } finally {
    delete process.env["KERNEL_ONLY"];
  }
  writeFileSync(program, "#!/bin/sh\nexit 3\n");
  expect(await valueIn({ command: [program] })).toEqual([undefined, expect.stringContaining("ended with 3")]);
  chmodSync(program, 0o777);
  expect(await valueIn({ command: [program] })).toEqual([undefined, expect.stringContaining(program)]);
});

test("of a keyring that is not there", async () => {
  expect(await valueIn({ keyring: "KEY" })).toEqual([undefined, expect.stringMatching(/keyring/)]);
});
