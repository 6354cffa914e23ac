/**
 * `node bench/tokens.mjs [ROOT]`: replays a fixed day of calls over MCP and prints bytes and approximate tokens.
 *
 * It starts `./handrail mcp` of ROOT (this checkout when absent) on a copy of examples/service, so that two checkouts
 * can be compared. What a client shows its model is counted: structured content where there is some, else the texts.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Bytes that a token of English and code has, roughly. */
const BYTES_PER_TOKEN = 4;

const here = fileURLToPath(new URL("../", import.meta.url));
const root = process.argv[2] ?? here;
const base = mkdtempSync(join(tmpdir(), "handrail-tokens-"));
const workspace = join(base, "service");
cpSync(join(here, "examples/service"), workspace, { recursive: true });
for (const args of [
  ["init", "-q"],
  ["add", "."],
])
  spawnSync("git", ["-C", workspace, ...args]);

/** @type {(spec: string, content: string) => object} */
const edit = (spec, content) => ({ path: "src/order.js", edits: [{ operation: "replace", spec, content }] });
/**
 * Two rounds of looking around, changing, testing and looking at what was changed.
 * @type {readonly (readonly [string, object])[]}
 */
const ROUND = [
  ["list_files", { path: ".", recursive: true }],
  ["read_file", { path: "README.md" }],
  ["read_file", { path: "package.json" }],
  ["search_file", { path: ".", regex: "function" }],
  ["search_file", { path: "src", regex: "order", context: 2 }],
  ["read_file", { path: "src/order.js" }],
  ["count_matches", { path: "src/order.js", regex: "export", literal: true }],
  ["edit_file", edit("export", "export ")],
  ["read_file", { path: "src/order.js" }],
  ["run_test", {}],
  ["run_lint", {}],
  ["shell", { command: "ls -la && node --version" }],
  ["git_status", {}],
  ["git_diff", {}],
  ["read_file", { path: "none.js" }],
  ["read_file", { path: ".env" }],
  ["write_file", { path: "notes.md", content: "# Notes\n" }],
  ["git", { operation: "STATUS", args: [] }],
];
const environment = {
  ...process.env,
  HOME: base,
  XDG_STATE_HOME: join(base, "state"),
  XDG_CONFIG_HOME: join(base, "config"),
};
const child = spawn(join(root, "handrail"), ["mcp", "--workspace", workspace], {
  env: environment,
  stdio: ["pipe", "pipe", "inherit"],
});
const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
let id = 0;
/** @param {string} method */
async function ask(method, params = {}) {
  id += 1;
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const { value } = await answers.next();
  if (value === undefined) throw new Error(`no answer to \`${method}\`: the server has ended`);
  return { line: value, result: JSON.parse(value).result };
}

try {
  const clientInfo = { name: "tokens", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  const list = await ask("tools/list");
  report("tools/list", { wire: list.line.length, shown: list.line.length, calls: 1 });
  const kinds = new Map();
  for (const [name, args] of [...ROUND, ...ROUND]) {
    const { line, result } = await ask("tools/call", { name, arguments: args });
    const texts = result.content.map((/** @type {{ text: string }} */ { text }) => text).join("\n");
    const shown = result.structuredContent === undefined ? texts : JSON.stringify(result.structuredContent);
    const sum = kinds.get(name) ?? { wire: 0, shown: 0, calls: 0 };
    kinds.set(name, { wire: sum.wire + line.length, shown: sum.shown + shown.length, calls: sum.calls + 1 });
  }
  for (const [name, sum] of [...kinds].sort(([left], [right]) => (left < right ? -1 : 1))) report(name, sum);
  const sums = [...kinds.values()];
  const total = (/** @type {"wire" | "shown" | "calls"} */ member) => sums.reduce((sum, each) => sum + each[member], 0);
  report("all answers", { wire: total("wire"), shown: total("shown"), calls: total("calls") });
} finally {
  const ended = once(child, "exit");
  child.stdin.end();
  await ended; // it writes to the state until then
  rmSync(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/**
 * @param {string} what
 * @param {{ wire: number, shown: number, calls: number }} sum bytes and how many calls
 */
function report(what, { wire, shown, calls }) {
  const tokens = Math.round(shown / BYTES_PER_TOKEN);
  console.log(
    `${what.padEnd(22)} calls ${String(calls).padStart(3)}  wire ${String(wire).padStart(7)} B  shown ${String(shown).padStart(7)} B  ~${tokens} tokens`,
  );
}
