/** Secrets of `.env` files: which values they hold, and that they are hidden wherever the workspace shows them. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { secretsOfEnvFile } from "../../../src/redact/environment.ts";
import { envFileSecrets } from "../../../src/server/workspace/env-files.ts";
import { memoryKernel } from "../../support/memory-kernel.ts";

/** Put together here, so that this file holds no secret. */
const PASSWORD = ["hunter", "22x"].join("");

const valuesOf = (text: string) => secretsOfEnvFile(text).map(({ value }) => value);

test.each([
  ["plain", `DB_PASSWORD=${PASSWORD}`, [PASSWORD]],
  ["with `export` and blanks", `  export DB_PASSWORD = ${PASSWORD}  `, [PASSWORD]],
  ["in double quotes, with an escape", `DB_PASSWORD="a b\\"${PASSWORD}" # old`, [`a b"${PASSWORD}`]],
  ["in single quotes", `DB_PASSWORD='${PASSWORD}#1'`, [`${PASSWORD}#1`]],
  ["with a comment behind", `DB_PASSWORD=${PASSWORD} # of ann`, [PASSWORD]],
  ["after a line of Windows", `A=1\r\nDB_PASSWORD=${PASSWORD}\r\n`, [PASSWORD]],
  ["what everybody has", "NODE_ENV=production\nPORT=3000\nDB_PASSWORD=changeme\nHOME_DIR=/srv/app\nEMPTY=\n# X=1", []],
])("%s", (_, text, values) => {
  expect(valuesOf(text)).toEqual(values);
});

test("files are read again when they change, once in a while, and what was a secret stays one", () => {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "handrail-env-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  let nowMs = 0;
  const secrets = envFileSecrets(
    [directory, directory],
    (text) => secretsOfEnvFile(text),
    () => nowMs,
  );
  const values = () => secrets().map(({ value }) => value);
  expect(values()).toEqual([]);
  writeFileSync(join(directory, ".env"), `DB_PASSWORD=${PASSWORD}\n`);
  expect(values()).toEqual([]); // it has just looked
  nowMs = 150;
  expect(values()).toEqual([PASSWORD]);
  writeFileSync(join(directory, ".env"), `DB_PASSWORD=${PASSWORD}-new\n`);
  writeFileSync(join(directory, ".env.production.local"), `API_TOKEN=${PASSWORD}-live\n`);
  nowMs = 300;
  expect(values()).toEqual([PASSWORD, `${PASSWORD}-new`, `${PASSWORD}-live`]);
  expect(secrets()).toBe(secrets());
});

test("no link is followed, nothing is waited for, and examples hold no secrets", () => {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "handrail-env-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, ".env.example"), `DB_PASSWORD=${PASSWORD}\n`);
  symlinkSync(".env.example", join(directory, ".env"));
  execFileSync("mkfifo", [join(directory, ".env.local")]);
  expect(envFileSecrets([directory], (text) => secretsOfEnvFile(text))()).toEqual([]);
});

test("a value of `.env` is hidden in every file of the workspace, in any form, without a name beside it", async () => {
  const kernel = await memoryKernel({});
  const text = `connects with ${PASSWORD}, or ${Buffer.from(`user:${PASSWORD}`).toString("base64")}\n`;
  writeFileSync(join(kernel.root, "notes.txt"), text);
  const read = async () => {
    const { outcome } = await kernel.call("read_file", { path: "notes.txt" });
    return outcome.kind === "success" ? String(outcome.data["content"]) : JSON.stringify(outcome);
  };
  expect(await read()).toBe(text); // the control
  writeFileSync(join(kernel.root, ".env"), `DB_PASSWORD=${PASSWORD}\n`);
  expect(await read()).toMatch(/^connects with \[REDACTED:env-db-password\], or \S*\[REDACTED:env-db-password\]\n$/);
  // Writing it is not asked about: nobody was shown that it is one.
  expect((await kernel.call("write_file", { path: "b.txt", content: `x ${PASSWORD}\n` })).outcome.kind).toBe("success");
});
