/**
 * `npm run bench -- SUITE [--quick] [--json FILE] [--table] [--only ID]`, where SUITE is spine, surface, redact,
 * redact-quality, gates, exec, git, branch, net, search, edit, extend, mcp or upstream: measures Handrail against a
 * named peer for each figure, in turns, and prints the ratios. `knowledge`, `knowledge-quality` and `structure` print
 * figures of their own.
 */
import { writeFileSync } from "node:fs";
import { measureFileEdits } from "./edit/edits.ts";
import { measureBranches } from "./exec/branch.ts";
import { measureCommands } from "./exec/commands.ts";
import { measureGit } from "./exec/git.ts";
import { measureObserver } from "./extend/observer.ts";
import { measurePlugins } from "./extend/plugins.ts";
import { measureXml } from "./extend/xml.ts";
import { keepFigures } from "./figures.ts";
import { measureFreeGates } from "./gates/free.ts";
import { measurePending } from "./gates/pending.ts";
import { measureMcpHttp } from "./mcp/http-calls.ts";
import { measureUpstreamCalls } from "./mcp/upstream-calls.ts";
import type { Row } from "./measure.ts";
import { measureFetches } from "./net/fetch.ts";
import { measureProxy } from "./net/proxy.ts";
import { measureStarts } from "./net/start.ts";
import { parseOptions } from "./options.ts";
import { createPlayground } from "./playground.ts";
import { measureFlow } from "./redact/flow.ts";
import { measureJudge } from "./redact/judge/judge.ts";
import { measureRedactionQuality } from "./redact/quality.ts";
import { measureRedactionSpeed } from "./redact/speed.ts";
import { ensureReferenceServer } from "./reference-server.ts";
import { measureEdits } from "./spine/edits.ts";
import { measureFramed } from "./spine/framed.ts";
import { measureIdleMemory } from "./spine/idle-memory.ts";
import { measureLedger } from "./spine/ledger.ts";
import { measureMcpReads } from "./spine/mcp-reads.ts";
import { measurePipeline } from "./spine/pipeline.ts";
import { measureStages } from "./spine/stages.ts";
import { measureColdStart, measureFirstCall } from "./spine/start.ts";
import { measureConnect } from "./surface/connect.ts";
import { measureContent } from "./surface/content.ts";
import { measureDedupe } from "./surface/dedupe.ts";
import { measureSearch } from "./surface/search.ts";
import { formatReport, thisMachine } from "./table.ts";

/** The figures of the spine, in the order they are taken. */
const SPINE = [
  { id: "mcp-read", measure: measureMcpReads },
  { id: "mcp-edit", measure: measureEdits },
  { id: "framed-read", measure: measureFramed },
  { id: "pipeline", measure: measurePipeline },
  { id: "ledger", measure: measureLedger },
  { id: "cold-start", measure: measureColdStart },
  { id: "first-call", measure: measureFirstCall },
  { id: "idle-memory", measure: measureIdleMemory },
  { id: "stage", measure: measureStages },
] as const;
/** The figures of what stands on the spine. */
const SURFACE = [
  { id: "connect", measure: measureConnect },
  { id: "content", measure: measureContent },
  { id: "dedupe", measure: measureDedupe },
  { id: "search", measure: measureSearch },
] as const;
/** How fast and how well secrets are found, and what labels cost. */
const REDACT = [
  { id: "redact", measure: measureRedactionSpeed },
  { id: "flow", measure: measureFlow },
] as const;
/** What a sandboxed command costs. */
const EXEC = [{ id: "exec", measure: measureCommands }] as const;
/** What views cost, and the landing of what was changed in them. */
const BRANCH = [{ id: "branch", measure: measureBranches }] as const;
/** What reaching out costs. */
const NET = [
  { id: "fetch", measure: measureFetches },
  { id: "proxy", measure: measureProxy },
  { id: "starts", measure: measureStarts },
] as const;
/** What git costs in it. */
const GIT = [{ id: "git", measure: measureGit }] as const;
/** How well secrets are found; the judge's corpus was not made from the rules. */
const REDACT_QUALITY = [
  { id: "quality", measure: measureRedactionQuality },
  { id: "judge", measure: measureJudge },
] as const;
/** What gates cost where nobody is asked, and what it costs to wait for people. */
const GATES = [
  { id: "gates", measure: measureFreeGates },
  { id: "pending", measure: measurePending },
] as const;
/** What edits of large files and of several cost. */
const EDIT = [{ id: "edit", measure: measureFileEdits }] as const;
/** Searching alone. */
const SEARCH = [{ id: "search", measure: measureSearch }] as const;
/** What tools of others cost, reading calls out of a text, and that somebody observes. */
const EXTEND = [
  { id: "plugins", measure: measurePlugins },
  { id: "xml", measure: measureXml },
  { id: "observer", measure: measureObserver },
] as const;
/** Calls by MCP over HTTP. */
const MCP = [{ id: "mcp-http", measure: measureMcpHttp }] as const;
/** Calls of other people's servers. */
const UPSTREAM = [{ id: "upstream", measure: measureUpstreamCalls }] as const;
const SUITES = {
  spine: SPINE,
  surface: SURFACE,
  redact: REDACT,
  "redact-quality": REDACT_QUALITY,
  gates: GATES,
  exec: EXEC,
  git: GIT,
  branch: BRANCH,
  net: NET,
  search: SEARCH,
  edit: EDIT,
  extend: EXTEND,
  mcp: MCP,
  upstream: UPSTREAM,
} as const;

if (process.argv[2] === "attention") {
  const { runAttention } = await import("./attention/attention.ts");
  await runAttention(process.argv.slice(3)).catch(fail);
  process.exit();
}

if (process.argv[2] === "knowledge" || process.argv[2] === "knowledge-quality") {
  const { runKnowledge } = await import("./knowledge/knowledge.ts");
  await runKnowledge(process.argv[2], process.argv.includes("--quick")).catch(fail);
  process.exit();
}

if (process.argv[2] === "structure") {
  const { runStructure } = await import("./structure/structure.ts");
  await runStructure(process.argv.includes("--quick")).catch(fail);
  process.exit();
}

try {
  const { suite, effort, json, table, only } = parseOptions(process.argv.slice(2));
  if (suite === "spine") ensureReferenceServer();
  const machine = thisMachine();
  using playground = createPlayground();
  const rows: Row[] = [];
  for (const { id, measure } of SUITES[suite]) {
    if (!id.startsWith(only)) continue;
    process.stderr.write(`bench: ${id}\n`);
    try {
      rows.push(...(await measure(playground, effort)));
    } catch (error) {
      fail(error); // what was measured before and after is still worth printing
    }
  }
  console.log(formatReport(machine, rows));
  if (table) keepFigures({ suite, takenAt: new Date(), machine, rows });
  if (json !== undefined)
    writeFileSync(json, `${JSON.stringify({ suite, takenAt: new Date(), machine, rows }, undefined, 2)}\n`);
} catch (error) {
  fail(error);
}

function fail(error: unknown): void {
  process.stderr.write(`bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
}
