/** What of a repository's settings git gets to see. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/sandbox/git/config-text.ts";
import { safeSettings } from "../../../src/sandbox/git/safe-settings.ts";

const safe = (text: string) => safeSettings(parseConfig(text) ?? []);

test.each([
  ['[core]\n\tbare = false\n[remote "origin"]\n\turl = https://example.com/x.git ; where\n'],
  ['[user] name = "Ada # Lovelace" # she\n email=ada@example.com\n'],
  ['[a.B]\nx\ny = one\\\ntwo\n[c "d\\"e\\\\f"] z = "a\\tb" c  \n'],
  ["# nothing\n; here\n"],
])("settings are read as git reads them: %j", (text) => {
  const ran = spawnSync("git", ["config", "--file", "-", "--list", "--null"], {
    input: text,
    encoding: "utf8",
    env: { PATH: process.env["PATH"] ?? "" },
  });
  expect(ran.status).toBe(0);
  const plainly = ran.stdout
    .split("\0")
    .slice(0, -1)
    .map((one) => (one.includes("\n") ? one : `${one}\ntrue`));
  const read = (parseConfig(text) ?? []).map(({ section, subsection, name, value }) => {
    return `${section}${subsection === undefined ? "" : `.${subsection}`}.${name}\n${value}`;
  });
  expect(read).toEqual(plainly);
});

test.each([
  "[core\nbare = false\n",
  "x = 1\n",
  '[core]\n\tx = "open\n',
  "[core]\n\t1x = 2\n",
  "[core]\n\tx = \\q\n",
  "[core]\nx = \0\n",
])("what is not well-formed is refused as a whole: %j", (text) => expect(parseConfig(text)).toBeUndefined());

test("only listed settings with listed values stay, written anew", () => {
  const settings = safe(
    [
      "[core]\n\tautocrlf = input\n\tsshCommand = evil\n\tworktree = /\n\tbare = true\n",
      '[remote "origin"]\n\turl = https://ada:password@example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\tuploadpack = evil\n',
      '[remote "evil"]\n\turl = "https://x/ y"\n\tfetch = +refs/heads/*:refs/heads/*\n',
      '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n\tremote = --upload-pack=evil\n',
      '[filter "lfs"]\n\tclean = evil\n[include]\n\tpath = evil\n[alias]\n\tst = !evil\n[url "evil"]\n\tinsteadOf = https://\n',
      '[core "x\\"]\\n[core]"]\n\tautocrlf = input\n',
    ].join(""),
  );
  expect(settings).toEqual({
    text:
      '[core]\n\tautocrlf = "input"\n[remote "origin"]\n\turl = "https://example.com/x.git"\n[remote "origin"]\n\tfetch = "+refs/heads/*:refs/remotes/origin/*"\n' +
      '[branch "main"]\n\tremote = "origin"\n[branch "main"]\n\tmerge = "refs/heads/main"\n',
    ignored: [
      ...[
        "alias.st",
        "branch.main.remote",
        "core.bare",
        "core.sshcommand",
        "core.worktree",
        'core.x"]n[core].autocrlf',
        "filter.lfs.clean",
        "include.path",
      ],
      ...["remote.evil.fetch", "remote.evil.url", "remote.origin.uploadpack", "url.evil.insteadof"],
    ],
    remotes: { origin: { url: "https://example.com/x.git" } },
    upstreams: { main: { remote: "origin", branch: "main" } },
    hasIdentity: false,
  });
});

test("an extension that is not known makes a repository unusable", () => {
  expect(safe("[extensions]\n\trefStorage = reftable\n")).toBe(
    "it uses the extension `refstorage`, which is not supported",
  );
  expect(safe("[extensions]\n\tobjectFormat = sha256\n")).toMatchObject({
    text: '[extensions]\n\tobjectformat = "sha256"\n',
  });
});

test("of two addresses of a remote none is used", () => {
  expect(safe('[remote "o"]\n\turl = https://a.example/x\n\turl = https://b.example/x\n')).toMatchObject({
    remotes: { o: { url: "" } },
  });
});
