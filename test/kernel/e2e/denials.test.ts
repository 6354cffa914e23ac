// Denials that an agent can use: each says what to do instead, and the next call that follows it succeeds.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { openKernel } from "../../../src/server/compose.ts";
import { newRepository } from "../../support/git-place.ts";
import { makePlace } from "../../support/place.ts";

type Call = readonly [string, JsonObject];
/** A call that cannot work, what its answer says, and the call that follows it. */
type Row = readonly [...Call, RegExp, ...Call];

const shell = (command: string, more: JsonObject = {}): Call => ["shell", { command, ...more }];
const write = (path: string): Call => ["write_file", { path, content: "x\n" }];
const OWN_FILES = /`\/scratch/;

const outside = [
  ...["/tmp/notes.md", "/tmp/plan/step-1.md", "/var/tmp/a.txt", "/home/agent/.claude/plans/plan.md", "/opt/out.json"],
  ...["/data/result.csv", "/workdir/a.ts", "/usr/local/bin/tool", "/etc/hosts", "/root-notes.md"],
].map((path): Row => [...write(path), OWN_FILES, ...write(`/scratch/${path.split("/").at(-1)}`)]);

const outsideReads: readonly Row[] = [
  ["read_file", { path: "/etc/passwd" }, /inside the workspace/, "read_file", { path: "src/a.ts" }],
  ["list_files", { path: "/home" }, /inside the workspace/, "list_files", { path: "." }],
  ["list_files", { path: "/" }, OWN_FILES, "list_files", { path: "/scratch" }],
  ["search_file", { path: "/", regex: "alpha" }, /inside the workspace/, "search_file", { path: ".", regex: "alpha" }],
  ["count_matches", { path: "/srv", regex: "a" }, /inside the workspace/, "count_matches", { path: "src", regex: "a" }],
  [...shell("ls", { cwd: "/tmp" }), /inside the workspace/, ...shell("ls", { cwd: "src" })],
  [...shell("echo x > /etc/motd"), OWN_FILES, ...shell("echo x > /scratch/motd")],
  [...shell("cat < /etc/shadow"), /inside the workspace/, ...shell("cat < src/a.ts")],
];

const traversals: readonly Row[] = ["../src/a.ts", "src/../src/a.ts", "src/../../src/a.ts", "./../src/a.ts"].flatMap(
  (path): readonly Row[] => [
    ["read_file", { path }, /without `\.\.`/, "read_file", { path: "src/a.ts" }],
    [...write(path.replace("a.ts", "b.ts")), /without `\.\.`/, ...write("src/b.ts")],
  ],
);

const zones: readonly Row[] = [
  ...[".git/config", ".git/info/exclude", ".git/hooks/pre-commit", ".git/HEAD"].map(
    (path): Row => [...write(path), /the git tools change/, "git", { operation: "STATUS", args: [] }],
  ),
  ...[".env", ".env.local", "config/.env.production", ".env.staging"].map(
    (path): Row => [...write(path), /`\.env\.example`/, ...write(".env.example")],
  ),
  ["read_file", { path: ".env" }, /`\.env\.example`/, "read_file", { path: ".env.example" }],
];

const files: readonly Row[] = [
  ["read_file", { path: "big.bin" }, /in parts with `offset`/, "read_file", { path: "long.txt", limit: 1000 }],
  ["read_file", { path: "src" }, /list_files/, "list_files", { path: "src" }],
  ["read_file", { path: "src/none.ts" }, /list_files/, "list_files", { path: "src" }],
  ["delete_file", { path: "none.txt" }, /list_files/, "list_files", { path: "." }],
  [
    "edit_file",
    { path: "src/a.ts", edits: [{ operation: "replace", spec: "omega", content: "x" }] },
    /read the file again/,
    "edit_file",
    { path: "src/a.ts", edits: [{ operation: "replace", spec: "alpha", content: "alpha" }] },
  ],
  [
    "write_file",
    { path: "src/a.ts", content: "x", create_only: true },
    /leave `create_only` out/,
    "write_file",
    { path: "src/c.ts", content: "x", create_only: true },
  ],
  ["search_file", { path: ".", regex: "(" }, /set `literal`/, "search_file", { path: ".", regex: "(", literal: true }],
  [...shell("ls", { cwd: "none" }), /list_files/, "list_files", { path: "." }],
];

const gitWrites: readonly Row[] = [
  ["git add src/a.ts", "git_add", { files: ["src/a.ts"] }],
  ["git commit --allow-empty -m x", "git", { operation: "COMMIT", args: ["--allow-empty", "-m", "one"] }],
  ["git commit -am x", "git", { operation: "COMMIT", args: ["--allow-empty", "-m", "two"] }],
  ["git checkout -b one", "git_checkout", { branch: "one", create_if_missing: true }],
  ["git switch -c two", "git", { operation: "CHECKOUT", args: ["-b", "two"] }],
  ["git branch three", "git", { operation: "BRANCH", args: ["three"] }],
  ["git tag v1", "git", { operation: "TAG", args: ["v1"] }],
  ["git stash", "git", { operation: "STASH", args: ["list"] }],
  ["git reset", "git", { operation: "RESET", args: [] }],
  ["git fetch .", "git", { operation: "STATUS", args: [] }],
  ["git merge work", "git", { operation: "STATUS", args: [] }],
  ["git config user.name x", "git", { operation: "LOG", args: ["-1"] }],
  ["git rm --cached src/a.ts", "git", { operation: "STATUS", args: [] }],
].map(([command, tool, args]): Row => [...shell(String(command)), /`git/, String(tool), args as JsonObject]);

const installs: readonly Row[] = [
  "npm install left-pad",
  "npm i",
  "yarn add left-pad",
  "pnpm add left-pad",
  "npm update",
]
  .concat(["pip install requests", "pip3 install -r requirements.txt"])
  .map(
    (command): Row => [
      ...shell(command),
      /install_dependencies|--frozen-lockfile/,
      "install_dependencies",
      { manager: "npm" },
    ],
  );

const places: readonly Row[] = [
  [...shell("cat /tmp/earlier.txt"), OWN_FILES, ...shell("echo x > /scratch/earlier.txt && cat /scratch/earlier.txt")],
  [...shell("wc -l /tmp/log"), OWN_FILES, ...shell("seq 3 > /scratch/log && wc -l /scratch/log")],
  [...shell("mkdir /data"), OWN_FILES, ...shell("mkdir -p /scratch/data")],
  [...shell("touch /usr/local/x"), OWN_FILES, ...shell("touch /scratch/x")],
  [...shell("cat .env"), /`\.env\.example`/, ...shell("cat .env.example")],
  [...shell("sudo ls src"), /as you are|other user/, ...shell("ls src")],
];

const mistakes: readonly Row[] = [
  ["read_file", { file: "src/a.ts" }, /`path`: is missing/, "read_file", { path: "src/a.ts" }],
  ["write_file", { path: "d.txt" }, /`content`: must be text/, ...write("d.txt")],
  [
    "edit_file",
    { path: "src/a.ts" },
    /`edits` instead/,
    "edit_file",
    { path: "src/a.ts", old_string: "beta", new_string: "gamma" },
  ],
  ["list_files", { path: ".", depth: 1 }, /`depth`: unknown/, "list_files", { path: ".", max_depth: 1 }],
  ["shell", { cmd: "ls" }, /`command`: is missing/, ...shell("ls")],
  ["bash", { command: "ls" }, /list the tools/, ...shell("ls")],
  ["git", { operation: "ADD", args: ["--edit"] }, /allowed here/, "git", { operation: "ADD", args: ["--", "src"] }],
];

const ROWS: readonly Row[] = [
  ...[...outside, ...outsideReads, ...traversals, ...zones, ...files],
  ...[...gitWrites, ...installs, ...places, ...mistakes],
];

describe("a denial says what to do, and that works", () => {
  const place = makePlace();
  let kernel: Awaited<ReturnType<typeof openKernel>>;
  let sessionToken = "";
  let calls = 0;

  beforeAll(async () => {
    const { workspace } = place;
    const files: Readonly<Record<string, string | Buffer>> = {
      "package.json": '{"name":"a","version":"1.0.0"}',
      "package-lock.json":
        '{"name":"a","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{"":{"name":"a","version":"1.0.0"}}}',
      "src/a.ts": "alpha\nbeta\n",
      "big.bin": Buffer.alloc(300_000),
      "long.txt": "line\n".repeat(50_000),
    };
    mkdirSync(join(workspace, "src"));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(workspace, name), content);
    const repository = newRepository(workspace);
    repository.git("checkout", "-q", "-b", "work");
    repository.git("config", "user.name", "t");
    repository.git("config", "user.email", "t@example.org");
    repository.git("add", "-A");
    repository.git("commit", "-q", "-m", "first");
    place.put("config/handrail.yaml", "approvals: { wait_seconds: 0 }\nalert: { freeze: false }\n");
    kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
    return async () => {
      await kernel.close();
      place.remove();
    };
  });

  const answerOf = async ([tool, args]: Call) => {
    calls += 1;
    const given = { kind: "call", requestId: `r-${calls}`, sessionToken, tool, arguments: args } as const;
    const { outcome } = await kernel.door.execute(given, new AbortController().signal);
    return outcome;
  };
  /** Whether a call did what was wanted of it: a command has to end well, too. */
  const worked = (outcome: Awaited<ReturnType<typeof answerOf>>): boolean => {
    if (outcome.kind !== "success") return false;
    const data = "data" in outcome ? (outcome.data as JsonObject) : {};
    return data["exit_code"] === undefined || data["exit_code"] === 0;
  };

  test("there are as many as there are common ones", () => expect(ROWS.length).toBeGreaterThanOrEqual(60));

  test.each(ROWS)("%s %j", async (tool, args, advice, nextTool, nextArgs) => {
    // an agent of its own for each: what one has seen is no matter of the next
    const who = { workspace: place.workspace, userId: "ann", agentId: `agent-${calls}` };
    ({ token: sessionToken } = await kernel.administration.createSession(who));
    const refused = await answerOf([tool, args]);
    expect([worked(refused), JSON.stringify(refused)]).toEqual([false, expect.stringMatching(advice)]);
    const next = await answerOf([nextTool, nextArgs]);
    expect([worked(next), JSON.stringify(next).slice(0, 500)]).toEqual([true, expect.anything()]);
  });
});
