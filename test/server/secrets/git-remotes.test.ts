// Credentials for git's remotes: for whom each is, where it is kept, and what happens when it cannot be read.
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import { liesBelow } from "../../../src/model/work/git-remote.ts";
import type { OperatorDirectory } from "../../../src/server/operator/operator-directory.ts";
import { gitRemotesOf } from "../../../src/server/secrets/git-remotes.ts";
import { secretsOf } from "../../../src/server/secrets/secret-values.ts";
import { freshPlace } from "../../support/place.ts";

async function opened(git: object, environment: Readonly<Record<string, string>> = {}) {
  const settings = await parseSettings(JSON.stringify({ git }), "handrail.yaml");
  const operator: OperatorDirectory = { path: "/nowhere", exists: true, settings, policies: [] };
  return gitRemotesOf(operator, environment);
}

const decoded = (value: string | undefined) => value && Buffer.from(value.replace(/^Basic /, ""), "base64").toString();
const SECRETS = { ONE: "first-password", TWO: "second-password" };
const at = (host: string, path = "/a/b.git", port = 443) => ({ host, port, path });

test("a credential is for its host, its port and its paths, and the nearest one is taken", async () => {
  const { remotes, secrets } = await opened(
    {
      credentials: [
        { host: "Git.Example", username: "all", password: { env: "ONE" } },
        { host: "git.example:443", path: "team/", username: "team", password: { env: "TWO" } },
      ],
    },
    SECRETS,
  );
  expect(decoded(remotes.authorization(at("git.example")))).toBe("all:first-password");
  expect(decoded(remotes.authorization(at("git.example", "/team/x.git")))).toBe("team:second-password");
  expect(decoded(remotes.authorization(at("git.example", "/team")))).toBe("team:second-password");
  expect(decoded(remotes.authorization(at("git.example", "/teams/x.git")))).toBe("all:first-password");
  for (const other of [
    at("git.example", "/a", 8443),
    at("example"),
    at("x.git.example"),
    at("git.example.evil.example"),
  ])
    expect(remotes.authorization(other)).toBeUndefined();
  expect(secrets.map(({ value }) => value)).toEqual(["first-password", "second-password"]);
});

test.each(["/team/../other/x.git", "/team/%2e%2e/other", "/team//x", "/team%2Fx", "/tea", "/Team/x", "/"])(
  "%s does not lie below a path that a credential is for",
  (path) => expect(liesBelow(path, "team")).toBe(false),
);

test("a password in a file is the operator's alone; otherwise the call that needs it is refused, and nothing is hidden or sent", async () => {
  const place = freshPlace();
  const file = join(place.base, "password");
  writeFileSync(file, "kept-in-a-file\n", { mode: 0o600 });
  const git = { credentials: [{ host: "git.example", username: "bot", password: { file } }] };
  expect(decoded((await opened(git)).remotes.authorization(at("git.example")))).toBe("bot:kept-in-a-file");
  chmodSync(file, 0o640);
  const open = await opened(git);
  expect(() => open.remotes.authorization(at("git.example"))).toThrow(/can be read by others; run `chmod go= /);
  expect([open.remotes.authorization(at("other.example")), open.secrets, open.problems.length]).toEqual([
    undefined,
    [],
    1,
  ]);
});

test("a password that is written anew counts with the next reading, and the one before stays hidden", async () => {
  const file = join(freshPlace().base, "password");
  writeFileSync(file, "the-first-one\n", { mode: 0o600 });
  const settings = await parseSettings(
    JSON.stringify({ git: { credentials: [{ host: "git.example", username: "bot", password: { file } }] } }),
    "x",
  );
  const operator: OperatorDirectory = { path: "/nowhere", exists: true, settings, policies: [] };
  const first = gitRemotesOf(operator, {});
  expect(gitRemotesOf(operator, {})).toBe(first);
  writeFileSync(file, "the-second-one\n");
  expect(first.isCurrent()).toBe(false);
  const second = gitRemotesOf(operator, {});
  const at = { host: "git.example", port: 443, path: "/x" };
  expect([decoded(first.remotes.authorization(at)), decoded(second.remotes.authorization(at))]).toEqual([
    "bot:the-first-one",
    "bot:the-second-one",
  ]);
  expect(second.secrets.map(({ value }) => value)).toEqual(["the-second-one", "the-first-one"]);
  // half written, and written again
  writeFileSync(file, "");
  const none = gitRemotesOf(operator, {});
  expect(() => none.remotes.authorization(at)).toThrow(/write the password there/);
  expect(none.secrets.map(({ value }) => value)).toEqual(["the-second-one", "the-first-one"]);
  writeFileSync(file, "the-third-one\n");
  expect(decoded(gitRemotesOf(operator, {}).remotes.authorization(at))).toBe("bot:the-third-one");
});

test.each([
  ["no file", undefined, /cannot be read \(ENOENT\); write it, or correct its name/],
  ["no certificate", "certificates\n", /holds no certificates; put/],
  [
    "half a certificate",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
    /holds a certificate that cannot be read; put/,
  ],
])("authorities with %s refuse every remote, and are named", async (_, text, expected) => {
  const file = join(freshPlace().base, "ca.pem");
  if (text !== undefined) writeFileSync(file, text);
  const { remotes, problems } = await opened({ certificate_authorities: file });
  expect(problems).toEqual([expect.stringMatching(expected)]);
  expect(() => remotes.authorities()).toThrow(expected);
});

test.each([
  ["no variable", {}, /the variable `ONE`.* holds no password/],
  ["too short", { ONE: "short" }, /6 or more characters/],
  ["two lines", { ONE: "first-line\nsecond: line" }, /in one line/],
])("%s: the call that needs the credential says so", async (_, environment, expected) => {
  const { remotes } = await opened(
    { credentials: [{ host: "git.example", username: "bot", password: { env: "ONE" } }] },
    environment,
  );
  expect(() => remotes.authorization(at("git.example"))).toThrow(expected);
});

test.each([
  { credentials: [{ host: "https://git.example", username: "bot", password: { env: "ONE" } }] },
  { credentials: [{ host: "*.example", username: "bot", password: { env: "ONE" } }] },
  { credentials: [{ host: "git.example", username: "a:b", password: { env: "ONE" } }] },
  { credentials: [{ host: "git.example", username: "bot", password: "in-the-open" }] },
  { credentials: [{ host: "git.example", username: "bot", password: { file: "relative" } }] },
  { credentials: [{ host: "git.example", path: "../x", username: "bot", password: { env: "ONE" } }] },
  { certificate_authorities: "relative.pem" },
])("refused: %j", async (git) => {
  await expect(opened(git)).rejects.toThrow(/git\./);
});

test("a password may be a secret that commands use, too: bound to the host as basic, and read where it is kept", async () => {
  const secret = (to: string, place: string) => ({
    TOKEN: { from: { env: "T" }, placeholder: "placeholder_of_a_token", bindings: [{ to, in: place }] },
  });
  const git = { credentials: [{ host: "git.example", username: "bot", password: { secret: "TOKEN" } }] };
  const parse = (secrets: object) => parseSettings(JSON.stringify({ git, secrets }), "handrail.yaml");
  const settings = await parse(secret("git.example", "basic"));
  const operator: OperatorDirectory = { path: "/nowhere", exists: true, settings, policies: [] };
  const { broker } = await secretsOf(operator, { T: "the-token-itself" });
  const { remotes, secrets, problems } = gitRemotesOf(operator, {}, broker);
  expect(decoded(remotes.authorization(at("git.example")))).toBe("bot:the-token-itself");
  expect([secrets.map(({ value }) => value), problems]).toEqual([["the-token-itself"], []]);

  const unread = gitRemotesOf(operator, {}, (await secretsOf({ settings: structuredClone(settings) }, {})).broker);
  expect(() => unread.remotes.authorization(at("git.example"))).toThrow(/`TOKEN` cannot be read/);

  await expect(parse({})).rejects.toThrow(/`TOKEN` is not defined under `secrets`/);
  await expect(parse(secret("git.example:8443", "basic"))).rejects.toThrow(/not bound to `git.example:443` as `basic`/);
  await expect(parse(secret("git.example", "header Authorization"))).rejects.toThrow(/as `basic`/);
});
