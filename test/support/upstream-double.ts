/** The double of an upstream server, which behaves as a file says. */

/**
 * A server that reads how to behave from `behaviour.json` each time that it is asked.
 *
 * It offers `tools`, and answers calls with `answer`, `content` or `structured`, or as `call` says: `hang`, `die`,
 * `flood`, `huge`, `otherId`, `textId`, `nonsense`, `asks`, `strays`, `twice`, `writesLater`, `progress`, `pid`. Of
 * several calls, it hangs with the one whose text is `hangOn`; `ends` answers what is cancelled, and `modern` speaks
 * the protocol of 2026-07-28. `asksFor` is a request of its own, with `question`, whose answer it says.
 */
export const DOUBLE = `
import { readFileSync, writeFileSync, writeSync } from "node:fs";
const behaviour = () => JSON.parse(readFileSync(process.env.BEHAVIOUR ?? "/workspace/behaviour.json", "utf8"));
const put = (text) => { const bytes = Buffer.from(text); let at = 0;
  while (at < bytes.length) try { at += writeSync(1, bytes, at); } catch (error) { if (error.code !== "EAGAIN") throw error; } };
const send = (message) => put(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
if (behaviour().dieAtStart) { console.error("no licence"); process.exit(3); }
const startedAt = process.hrtime.bigint().toString();
let rest = "";
let asked;
const heard = [];
const questions = new Map();
process.stdin.on("data", (piece) => {
  rest += piece;
  for (;;) {
    const end = rest.indexOf("\\n");
    if (end === -1) return;
    const message = JSON.parse(rest.slice(0, end));
    rest = rest.slice(end + 1);
    answer(message);
  }
});
const said = (id, text) => send({ id, result: { content: [{ type: "text", text }] } });
function answer({ id: heardId, method, params, error, result }) {
  const id = heardId;
  if (method === undefined && questions.has(String(heardId))) return said(questions.get(heardId), JSON.stringify(result ?? error));
  if (method === undefined && asked !== undefined) {
    heard.push(error?.code ?? JSON.stringify(result));
    if (heard.length === 3) said(asked, heard.join(" "));
    return;
  }
  const how = behaviour();
  if (method === "notifications/cancelled" && how.ends) return send({ id: params.requestId, error: { code: -32800, message: "ended" } });
  if (id === undefined) return;
  if (how.diesAskedFirst && method === "server/discover") process.exit(4);
  if (how.modern && method === "server/discover") return send({ id, result: { resultType: "complete", ttlMs: 0, cacheScope: "private",
    supportedVersions: ["2026-07-28"], capabilities: { tools: { listChanged: how.modern === "listens" } } } });
  if (how.modern && method === "initialize") return send({ id, error: { code: -32601, message: "no such method" } });
  if (how.modern && method === "subscriptions/listen") return send({ method: "notifications/subscriptions/acknowledged",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": id }, notifications: { toolsListChanged: true } } });
  if (how.modern && method === "tools/list") return send({ id, result: { resultType: "complete", ttlMs: 0, cacheScope: "private", tools: how.tools } });
  if (how.modern && method === "tools/call") {
    if (how.changesAfter) send({ method: "notifications/tools/list_changed", params: { _meta: { "io.modelcontextprotocol/subscriptionId": "listen:0" } } });
    if (params.inputResponses) return send({ id, result: { resultType: "complete",
      content: [{ type: "text", text: JSON.stringify(params.inputResponses) }] } });
    if (how.call === "asks") return send({ id, result: { resultType: "input_required",
      inputRequests: { q: { method: "elicitation/create", params: { mode: "form", message: "password?", requestedSchema: { type: "object", properties: {} } } } } } });
    return send({ id, result: { resultType: "complete", content: [{ type: "text", text: JSON.stringify(params._meta) }] } });
  }
  if (method === "initialize") return send({ id, result: { protocolVersion: params.protocolVersion,
    capabilities: { tools: { listChanged: true } }, serverInfo: { name: "double", version: "1" } } });
  if (method === "tools/list" && how.hangList) return;
  if (method === "tools/list") return send({ id, result: how.endless ? { tools: [], nextCursor: "x" } : { tools: how.tools } });
  if (method !== "tools/call") return send({ id, error: { code: -32601, message: "no such method" } });
  if (how.error) return send({ id, error: { code: -32000, message: how.error } });
  if (how.call === "hang" || (how.hangOn !== undefined && params.arguments.text === how.hangOn)) return;
  if (how.call === "twice") { said(id, "once"); return said(id, "twice"); }
  if (how.call === "writesLater") { setTimeout(() => writeFileSync(how.file, "written"), how.laterMs); return; }
  if (how.call === "progress") { const progressToken = params._meta?.progressToken;
    for (let n = 1; n <= how.steps; n += 1) send({ method: "notifications/progress",
      params: { progressToken, progress: n, total: how.steps, message: how.words } });
    said(id, "done");
    return send({ method: "notifications/progress", params: { progressToken, progress: how.steps + 1 } }); }
  if (how.call === "die") process.exit(7);
  if (how.call === "nonsense") return put("no json\\n".repeat(10) + "{]\\n");
  if (how.call === "huge") return said(id, "x".repeat(50_000_000));
  if (how.call === "flood") for (;;) send({ method: "notifications/message", params: { level: "info", data: "x".repeat(4000) } });
  if (how.call === "otherId") return said(id + 1000, "for another");
  if (how.call === "textId") return said(String(id), "for a text");
  if (how.call === "strays") { for (let n = 0; n < 500; n += 1) said(id + 1000 + n, "stray"); return said(id, "late"); }
  if (how.asksFor) { const question = "q" + questions.size; questions.set(question, id);
    return send({ id: question, method: how.asksFor, params: how.question ?? {} }); }
  if (how.call === "asks") { asked = id;
    send({ id: "s", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
    send({ id: "e", method: "elicitation/create", params: { message: "password?", requestedSchema: { type: "object", properties: {} } } });
    return send({ id: "r", method: "roots/list" }); }
  if (how.call === "pid") return said(id, "started " + startedAt);
  if (how.call === "environment") return said(id, Object.keys(process.env).sort().join(" "));
  if (how.content) return send({ id, result: { content: how.content } });
  if (how.structured) return send({ id, result: { content: [], structuredContent: how.structured } });
  said(id, how.answer ?? JSON.stringify({ name: params.name, arguments: params.arguments }));
}
`;
