/** Workspaces whose projects have a language server of their own, and a server that does what a test wants. */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { Place } from "./place.ts";

/** Installs this project's TypeScript into a workspace: what its server needs of it. */
export function installTypeScript(workspace: string): void {
  const from = "node_modules/typescript";
  const to = join(workspace, from);
  mkdirSync(join(to, "lib"), { recursive: true });
  cpSync(join(from, "package.json"), join(to, "package.json"));
  for (const name of readdirSync(join(from, "lib")))
    if (/\.(?:js|json|d\.ts)$/.test(name)) cpSync(join(from, "lib", name), join(to, "lib", name));
}

/** Installs this project's Pyright into a workspace. */
export function installPyright(workspace: string): void {
  cpSync("node_modules/pyright", join(workspace, "node_modules/pyright"), { recursive: true });
  mkdirSync(join(workspace, "node_modules/.bin"), { recursive: true });
  symlinkSync("../pyright/langserver.index.js", join(workspace, "node_modules/.bin/pyright-langserver"));
}

/**
 * A server for `.ts` that reads what to do from `behaviour.json` of the workspace each time that it is asked.
 *
 * `answers` by method; or, for a method's name, `hang`, `silent`, `slow`, `flood`, `gush`, `shout`, `eat`, `die`,
 * `asks`, `otherId`, `nonsense`, `refuses`. `takesMib` is what it keeps in memory at
 * each; `publishes` is what it says unasked of each file that it is told of.
 */
const DOUBLE = `
import { readFileSync, writeSync } from "node:fs";
const behaviour = () => JSON.parse(readFileSync("/workspace/behaviour.json", "utf8"));
if (behaviour().dieAtStart) { console.error("no licence"); process.exit(3); }
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  writeSync(1, "Content-Length: " + Buffer.byteLength(text) + "\\r\\n\\r\\n" + text);
};
let rest = Buffer.alloc(0);
const taken = [];
process.stdin.on("data", (piece) => {
  rest = Buffer.concat([rest, piece]);
  for (;;) {
    const end = rest.indexOf("\\r\\n\\r\\n");
    if (end === -1) return;
    const length = Number(/Content-Length: (\\d+)/i.exec(rest.toString("utf8", 0, end))[1]);
    if (rest.length < end + 4 + length) return;
    const message = JSON.parse(rest.toString("utf8", end + 4, end + 4 + length));
    rest = rest.subarray(end + 4 + length);
    answer(message);
  }
});
function answer({ id, method, params }) {
  if (method === undefined) return;
  const how = behaviour();
  if (id === undefined) {
    const { uri, version } = params?.textDocument ?? {};
    const published = method.startsWith("textDocument/did") ? how.publishes ?? [] : [];
    for (const diagnostics of published)
      send({ method: "textDocument/publishDiagnostics", params: { uri, version, diagnostics } });
    return;
  }
  if (method === "initialize") return send({ id, result: { capabilities: how.refuses ? {} : { diagnosticProvider: {} } } });
  if (how.refuses === method) return send({ id, error: { code: -32601, message: "unknown" } });
  if (how.hang === method) { for (;;); }
  if (how.silent === method) return;
  if (how.slow === method) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
  if (how.eat === method) { const eaten = []; for (;;) eaten.push(Buffer.alloc(1 << 24, 1)); }
  if (how.takesMib) taken.push(Buffer.alloc(how.takesMib << 20, 1));
  if (how.die === method) process.exit(7);
  if (how.nonsense === method) { writeSync(1, "Content-Length: 5\\r\\n\\r\\n{{{{{"); return; }
  if (how.flood === method) for (;;) send({ method: "window/logMessage", params: { type: 4, message: "x".repeat(4000) } });
  if (how.gush === method) { const piece = Buffer.alloc(1 << 20, 32); for (;;) writeSync(1, piece); }
  if (how.shout === method) { const piece = Buffer.alloc(1 << 20, 33); for (;;) writeSync(2, piece); }
  if (how.asks === method) for (let at = 0; at < 5; at += 1) send({ id: "q" + at, method: "workspace/applyEdit", params: { edit: {} } });
  if (how.otherId === method) send({ id: id + 1000, result: how.stolen });
  send({ id, result: how.answers?.[method] ?? null });
}
`;

/** The program of the double. */
export function doubleProgram(): string {
  return DOUBLE;
}

/** Puts the double into a workspace, and the operator's word that it is the server for TypeScript. */
export function installDouble(place: Place, behaviour: object, settings: object = {}): void {
  place.put("workspace/node_modules/double/server.mjs", DOUBLE);
  behave(place, behaviour);
  const server = {
    name: "double",
    command: ["node", "/workspace/node_modules/double/server.mjs"],
    extensions: { ".ts": "typescript" },
  };
  place.put("config/handrail.yaml", JSON.stringify({ language_servers: { servers: [server], ...settings } }));
}

/** Says what the double does from now on. */
export function behave(place: Place, behaviour: object): void {
  place.put("workspace/behaviour.json", JSON.stringify(behaviour));
}
