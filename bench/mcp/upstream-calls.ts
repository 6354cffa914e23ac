/**
 * Calls of another program's MCP server through Handrail, fully governed and in its sandbox, against calls of the same
 * server without Handrail; both by the SDK's client over standard streams.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Row, rowOf, spreadOf } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";
import { ensureReferenceServer, referenceServerArguments } from "../reference-server.ts";
import { LAUNCHER, REFERENCE } from "../servers.ts";

const PEER = `${REFERENCE}, called without Handrail`;
const IN_FLIGHT = [1, 8] as const;
/** Effects that an operator gives a server: calls of the second are durable in the ledger before and after. */
const EFFECTS = ["read", "exec"] as const;
/** The one directory that the server sees: this project, where its program and what it reads lie. */
const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PAGES = "docs/guide";
/** Calls of a turn, by those of other figures. */
const SHARE = 0.2;
/** Characters of the shortest page at least. */
const SHORTEST_PAGE = 500;

/** One way to the server. */
interface Side {
  readonly client: Client;
  readonly tool: string;
  readonly paths: readonly string[];
}

/** The figures. */
export async function measureUpstreamCalls(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  ensureReferenceServer();
  const config = playground.directory("upstream-config");
  writeFileSync(join(config, "handrail.yaml"), "preset: open\n");
  const environment = { ...playground.environment, HANDRAIL_CONFIG_HOME: config };
  const state = playground.directory("state-upstream");
  for (const effect of EFFECTS) bring(effect, environment, state);
  const pages = readdirSync(join(ROOT, PAGES)).filter((name) => name.endsWith(".md"));
  const workspace = playground.directory("upstream-workspace");
  const ours = await opened(LAUNCHER, ["mcp", "--workspace", workspace, "--state", state], environment);
  const theirs = await opened(process.execPath, referenceServerArguments(ROOT), environment);
  try {
    const their = { client: theirs, tool: "read_text_file", paths: within(ROOT, pages) };
    await turn(their, effort, 1);
    const rows: Row[] = [];
    for (const effect of EFFECTS) {
      const our = { client: ours, tool: `mcp.${effect}.read_text_file`, paths: within("/workspace", pages) };
      await turn(our, effort, 1);
      for (const inFlight of IN_FLIGHT) rows.push(...(await figures(effect, [our, their], { effort, inFlight })));
    }
    return rows;
  } finally {
    await Promise.all([ours.close(), theirs.close()]);
  }
}

async function figures(
  effect: string,
  [our, their]: readonly [Side, Side],
  { effort, inFlight }: { readonly effort: Effort; readonly inFlight: number },
): Promise<Row[]> {
  const pairs: { our: number; their: number }[] = [];
  for (let round = 0; round < effort.rounds; round += 1)
    pairs.push({ our: await turn(our, effort, inFlight), their: await turn(their, effort, inFlight) });
  const what = `a call of a server of files of the effect \`${effect}\`, ${inFlight} in flight`;
  const shown = { peer: PEER, unit: "ms", better: "lower" } as const;
  return [
    rowOf({ id: `upstream-${effect}-${inFlight}`, what, ...shown }, pairs),
    rowOf(
      { id: `upstream-more-${effect}-${inFlight}`, what: `${what}: what Handrail adds`, ...shown },
      pairs.map((pair) => ({ our: pair.our - pair.their, their: pair.their })),
    ),
  ];
}

/** The median of what each of many calls takes, in milliseconds. */
async function turn({ client, tool, paths }: Side, { calls }: Effort, inFlight: number): Promise<number> {
  const times: number[] = [];
  const count = calls * SHARE;
  let asked = 0;
  const work = async () => {
    while (asked < count) {
      const path = paths[asked % paths.length] ?? "";
      asked += 1;
      const started = performance.now();
      const { content, isError } = await client.callTool({ name: tool, arguments: { path } });
      times.push(performance.now() - started);
      const [first] = content;
      if (isError === true || first?.type !== "text" || first.text.length < SHORTEST_PAGE)
        throw new Error(`a call failed: ${JSON.stringify(content).slice(0, 500)}`);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
  return spreadOf(times).median;
}

async function opened(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: [...args], env: plain(env), stderr: "ignore" }));
  return client;
}

/** Adds the server and approves its tools, as a person does. */
function bring(effect: string, environment: NodeJS.ProcessEnv, state: string): void {
  const [entry = ""] = referenceServerArguments(ROOT);
  const inside = entry.replace(ROOT, "/workspace");
  const given = ["--directory", ROOT, "--effect", effect, "--", "node", inside, "/workspace"];
  const shown = run(["add", effect, ...given], environment, state);
  run(["approve", effect, "--seen", String(JSON.parse(shown).data.hash)], environment, state);
}

function run([act = "", name = "", ...more]: readonly string[], env: NodeJS.ProcessEnv, state: string): string {
  const given = ["upstream", act, "--state", state, "--json", name, ...more];
  const { status, stdout, stderr } = spawnSync(LAUNCHER, given, { env, encoding: "utf8" });
  if (status !== 0) throw new Error(`handrail ${given.join(" ")}: ${stderr}`);
  return stdout;
}

function within(root: string, pages: readonly string[]): readonly string[] {
  return pages.map((page) => join(root, PAGES, page));
}

function plain(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
