import { mkdtempSync, rmSync } from "node:fs"; import { tmpdir } from "node:os"; import { fork } from "node:child_process";
import { create } from "@bufbuild/protobuf";
import { ToolRequestSchema } from "./src/gen/handrail/tool/v1/tool_pb.ts";
import { serveFramed, connectFramed } from "./src/transports/framed/index.ts";
import { decodeRequest, toToolCall, toWireResponse, encodeResponse } from "./src/wire/index.ts";
import { validateRequest } from "./src/validate/validate.ts";
const sock = process.env.SOCK;
if (sock) {
  const s = await serveFramed({ socketPath: sock, onError: console.error, execute: async (b) => {
    const r = decodeRequest(b); if (validateRequest(r).length) throw new Error("bad"); const c = toToolCall(r);
    return encodeResponse(toWireResponse({ requestId: c.requestId, durationMs: 1, rules: ["r"], outcome: { kind: "success", data: {}, bytes: Buffer.alloc(100), label: { trustLevel: "user", dataClass: "internal", source: { origin: "read_file", timestamp: "2026" } }, truncated: false } }));
  } });
  process.send!("up"); process.on("message", async () => { await s.close(); process.exit(0); });
} else {
  const dir = mkdtempSync(tmpdir() + "/fr-"); const child = fork(process.argv[1]!, { env: { ...process.env, SOCK: dir + "/s" }, execArgv: process.env.PROF ? ["--cpu-prof", "--cpu-prof-dir=/tmp/prof-s"] : [] });
  await new Promise((r) => child.once("message", r));
  const c = await connectFramed(dir + "/s"); let n = 0;
  const one = () => c.execute(create(ToolRequestSchema, { requestId: `req-${n++}`, sessionToken: "session-abcdefghijklmnopqrstuvwxyz0123456789", tool: { case: "fileRead", value: { path: "src/main/thing/file.ts" } } }));
  for (const flight of [1, 16, 64, 64, 256]) { const total = flight === 1 ? 10000 : 60000; let left = total; const t = performance.now();
    await Promise.all(Array.from({ length: flight }, async () => { while (left-- > 0) await one(); }));
    console.log(flight, Math.round(total / (performance.now() - t) * 1000), "req/s"); }
  await c.close(); child.send("x"); await new Promise((r) => child.once("exit", r)); rmSync(dir, { recursive: true });
}
