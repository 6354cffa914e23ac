/**
 * Prepares what the first calls of a session need before they come.
 *
 * While nobody waits, it makes the rules of redaction and the session's workspace ready, and asks policy about the
 * usual calls. Policy caches its answers by what its rules look at, so they serve other files as well. Nothing is
 * decided here: calls are decided when they come.
 *
 * INVARIANT: nothing runs and nothing is recorded.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { authenticate } from "../session/session.ts";
import type { KernelParts } from "./call/parts.ts";
import { callerOf } from "./judge/caller.ts";
import { imagineCall } from "./judge/imagined/imagine.ts";

const FILE = "README.md";
/** Long enough for the search that long texts are searched by. */
const LONG_TEXT = "text ".repeat(200);
/** What nearly every session begins with. */
const USUAL_CALLS: readonly (readonly [tool: string, args: Readonly<Record<string, unknown>>])[] = [
  ["list_files", { path: "." }],
  ["read_file", { path: FILE }],
  ["search_file", { path: ".", regex: "text" }],
  ["edit_file", { path: FILE, edits: [{ operation: "replace", spec: "text", content: "text" }] }],
  ["write_file", { path: FILE, content: "text" }],
];

/**
 * Gets ready for the session of `token`; for a token that nobody may use, for any session. A call that comes meanwhile
 * waits for one step at most.
 */
export async function warmUp(parts: KernelParts, token: string): Promise<void> {
  const redactor = await parts.redactor();
  redactor.find(LONG_TEXT);
  const authenticated = await authenticate(parts.sessions, token, parts.clock.nowMs());
  if (!authenticated.ok) return;
  const caller = await callerOf(parts, authenticated.value);
  const policy = await parts.policy(caller.session.preset);
  for (const [tool, args] of USUAL_CALLS) {
    await nextTurn();
    await parts.registry.prepare(tool);
    imagineCall({ registry: parts.registry, policy, redactor, caller, tool, args, nowMs: parts.clock.nowMs() });
  }
}
