/** Every command that the README and the guides show does what they show, or says why it is not run. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dataIn, handrail, oneJsonLine } from "../../support/command-line.ts";
import { freshPlace, makePlace, type Place } from "../../support/place.ts";
import { allPages, blocksOf, readPage } from "../pages.ts";
import {
  commandBlocks,
  commandsOf,
  likeCheckout,
  type Placeholders,
  runBlock,
  unrunBlocks,
} from "../shown-commands.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** What a page takes for granted, and what stands for the names that it makes up. */
type Preparation = (place: Place) => Promise<Placeholders> | Placeholders;

const PREPARED: Readonly<Record<string, Preparation>> = {
  "README.md": async (place) => {
    const port = await freePort();
    place.put("project/handrail.yaml", "files: { protected: [deploy.toml] }\n");
    return new Map<string | RegExp, () => string>([
      ["serve --http ", () => `serve --http 127.0.0.1:${port} `],
      ["127.0.0.1:7465", () => `127.0.0.1:${port}`],
      ["CANDIDATE_DIR", () => place.config],
      ["DIR", () => join(place.base, "project")],
    ]);
  },
  "docs/guide/approvals.md": async (place) => {
    place.put("config/handrail.yaml", "approvals: { wait_seconds: 0 }\n");
    const credential = (await works(place, ["approvers", "add", "somebody"])).trim();
    const waiting: string[] = [];
    for (let number = 0; number < 9; number += 1) waiting.push(await askedReference(place, number));
    return new Map<string | RegExp, () => string>([
      ["4f2a", () => waiting.pop() ?? "none"],
      [/^handrail (?=approve |deny |approvals )/, () => `HANDRAIL_APPROVER_TOKEN=${credential} handrail `],
    ]);
  },
  "docs/guide/audit.md": async (place) => {
    const { id } = await newSession(place);
    await works(place, ["sessions", "freeze", id]);
    await works(place, ["kill", "--all"]);
    return new Map([[/\bID\b/, () => id]]);
  },
  "docs/guide/branches.md": () => new Map(),
  "docs/guide/clients.md": () => new Map(),
  "docs/guide/budgets.md": async (place) => {
    const { leaseId } = await newSession(place);
    return new Map([[/\bLEASE\b/, () => leaseId]]);
  },
  "docs/guide/gates.md": async (place) => {
    const { id } = await newSession(place);
    return new Map([[/\bID\b/, () => id]]);
  },
  "docs/guide/git.md": async (place) => {
    place.put("workspace/src/a.ts", "one\n");
    const setUp = [
      "git init -q -b main",
      "git config user.name a",
      "git config user.email a@b",
      "git add src",
      "git commit -qm one",
    ];
    const change = ["git checkout -qb feature/x", "echo two >> src/a.ts", "git add src"];
    expect(await runBlock(place, block([...setUp, ...change].join("\n")))).toEqual([]);
    return new Map();
  },
  "docs/guide/knowledge.md": () => new Map(),
  "docs/guide/labels.md": async (place) => {
    await works(place, ["call", "list_files", "--json", '{"path":"."}', "--workspace", place.workspace]);
    return new Map();
  },
  "docs/guide/network.md": () => new Map(),
  "docs/guide/observability.md": async (place) => {
    await works(place, ["call", "list_files", "--json", '{"path":"."}', "--workspace", place.workspace]);
    return new Map();
  },
  "docs/guide/policy.md": async (place) => {
    await works(place, ["init"]);
    place.put("workspace/handrail.yaml", "files: { protected: [deploy.toml] }\n");
    return new Map([[/\bDIR\b/, () => place.workspace]]);
  },
  "docs/guide/redaction.md": (place) => {
    const secret = `password = "${"kX9vQ2mLp8Zr"}${"T4wBn6Ys"}"\n`;
    place.put("workspace/build.log", secret);
    place.put("workspace/src/settings.ini", secret);
    return new Map();
  },
  "docs/guide/undo.md": async (place) => {
    place.put("workspace/src/a.ts", "one\n");
    const args = '{"path":"src/a.ts","content":"two\\n"}';
    await works(place, ["call", "write_file", "--json", args, "--workspace", place.workspace]);
    const history = await works(place, ["history", "src", "--workspace", place.workspace, "--json"]);
    const id = /"(req_[\w-]+)"/.exec(history)?.[1] ?? "none";
    return new Map([
      ["/srv/orders", () => place.workspace],
      ["req_9vVq…", () => id],
    ]);
  },
  "docs/guide/secrets.md": async (place) => {
    await works(place, ["init"]);
    return new Map();
  },
};

/** Pages of which every command is run. */
const RUN = ["README.md", ...globSync("docs/guide/*.md", { cwd: ROOT }).sort()].filter(
  (path) => commandBlocks(readPage(path)).length > 0,
);

test("there are pages with commands, and each is prepared", () => {
  expect([...RUN].sort()).toEqual(Object.keys(PREPARED).sort());
  expect(RUN.flatMap((path) => commandBlocks(readPage(path)).flatMap(commandsOf)).length).toBeGreaterThan(45);
});

describe.each(RUN)("%s", (path) => {
  let place: Place;
  let placeholders: Placeholders = new Map();
  beforeAll(async () => {
    place = makePlace();
    likeCheckout(place);
    placeholders = (await PREPARED[path]?.(place)) ?? new Map();
  });
  afterAll(() => place.remove());

  test.each(commandBlocks(readPage(path)))("the commands from line $line do what is shown", async (shown) => {
    expect(await runBlock(place, shown, placeholders)).toEqual([]);
  });
});

describe("a planted fault is found", () => {
  test.each([
    ["an option that does not exist", "handrail ledger tail --planted", "ended with 64 and not with 0"],
    ["a command that does not exist", "./handrail ledger planted", "ended with 64 and not with 0"],
    ["another exit code than shown", "handrail --version   # which one; exit 2", "ended with 0 and not with 2"],
    ["a fault after commands that work", 'handrail doctor --help\nfalse \\\n  "$0"', "command 2 (false"],
  ])("%s", async (_, text, problem) => {
    const place = freshPlace();
    likeCheckout(place);
    expect(await runBlock(place, block(text))).toEqual([expect.stringContaining(problem)]);
  });

  test("and its lawful neighbour is not", async () => {
    const place = freshPlace();
    likeCheckout(place);
    expect(
      await runBlock(
        place,
        block('handrail --version   # which one\n./handrail call none --json "{}"   # denied; exit 2'),
      ),
    ).toEqual([]);
  });
});

/** Blocks of a page that hold commands and do not say so, or are not run for no reason. */
function hiddenCommands({ path, text }: { readonly path: string; readonly text: string }): readonly string[] {
  return blocksOf(text).flatMap(({ info, text: shown, line }) => {
    if (info === "") return [`${path}:${line}: say what the block holds: \`sh\`, \`text\` or a language`];
    if (/^(bash|shell|console)\b/.test(info) || (/^sh\b/.test(info) && !/^sh( not run: \S.{10,})?$/.test(info)))
      return [`${path}:${line}: write \`sh\`, or \`sh not run: \` and the reason`];
    const isCommand = /^(\$ |(\.\/)?handrail [a-z]|npm |npx |node |git |printf |claude )/m.test(shown);
    return info === "text" && isCommand ? [`${path}:${line}: commands stand in \`sh\``] : [];
  });
}

const GUIDES = allPages().filter(({ path }) =>
  /^(README|CONTRIBUTING)\.md$|^docs\/|^examples\/python-client\//.test(path),
);

test("no block hides its commands", () => {
  expect(GUIDES.flatMap(hiddenCommands)).toEqual([]);
  const bad = [
    "```\nls\n```\n",
    "```bash\nls\n```\n",
    "```sh not run:\nls\n```\n",
    "```text\n./handrail doctor\n```\n",
  ];
  expect(bad.map((text) => hiddenCommands({ path: "docs/a.md", text }).length)).toEqual([1, 1, 1, 1]);
});

test("a reason for not running a block names tests that exist, and npm scripts that exist", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  const unrun = GUIDES.flatMap((page) => unrunBlocks(page));
  expect(unrun.length).toBeGreaterThan(3);
  const files = unrun.flatMap(({ info }) => info.match(/\b(?:test|src)\/\S+\.test\.ts/g) ?? []);
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  const named = unrun.flatMap(({ text }) =>
    [...text.matchAll(/^npm (?:run ([a-z:]+)|(test|start)\b)/gm)].map(([, name, own]) => name ?? own ?? ""),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

function block(text: string) {
  return { info: "sh", text: `${text}\n`, line: 1 };
}

async function works(place: Place, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await handrail(place, args);
  expect({ args, code, stderr }).toMatchObject({ code: 0 });
  return stdout;
}

async function newSession(place: Place): Promise<{ readonly id: string; readonly leaseId: string }> {
  return dataIn(await works(place, ["sessions", "create", "--workspace", place.workspace, "--json"]));
}

/** Makes a call that asks, and returns the beginning of its reference. */
async function askedReference(place: Place, number: number): Promise<string> {
  const args = JSON.stringify({ path: "CLAUDE.md", content: `${number}\n` });
  const { stdout } = await handrail(place, ["call", "write_file", "--json", args, "--workspace", place.workspace]);
  const { error } = oneJsonLine<{ error: { approval_ref: string } }>(stdout);
  return error.approval_ref;
}

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  await new Promise((closed) => server.close(closed));
  return typeof address === "object" && address !== null ? address.port : 0;
}
