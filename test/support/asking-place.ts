/** A place where an agent asks, through a real kernel, and people answer with the command line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { openKernel } from "../../src/server/compose.ts";
import type { SessionWish } from "../../src/server/people/administration.ts";
import { dataIn, handrail } from "./command-line.ts";
import { freshPlace } from "./place.ts";

/** Opens a kernel whose agent works in a place, and a command line for the people who answer. */
export async function askingPlace(settings = "", policies = "") {
  const place = freshPlace();
  if (settings !== "") place.put("config/handrail.yaml", settings);
  if (policies !== "") place.put("config/policy/own.cedar", policies);
  const added = await handrail(place, ["approvers", "add", "ada", "--json"]);
  const { token } = dataIn<{ token: string }>(added.stdout);
  const environment = { HANDRAIL_APPROVER_TOKEN: token };
  const open = async () => {
    const opened = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
    onTestFinished(() => opened.close());
    return opened;
  };
  let kernel = await open();
  const who = { workspace: place.workspace, userId: "ann", agentId: "agent" };
  let { token: sessionToken, session } = await kernel.administration.createSession(who);
  let calls = 0;
  const call = (tool: string, args: JsonObject) => {
    calls += 1;
    const given = { requestId: `r-${calls}`, sessionToken, tool, arguments: args };
    return kernel.door.execute({ kind: "call", ...given }, new AbortController().signal);
  };
  return {
    place,
    cli: (...args: readonly string[]) => handrail(place, args, { environment }),
    textOf: (path: string) => readFileSync(join(place.workspace, path), "utf8"),
    async nextSession(more: Partial<SessionWish> = {}) {
      ({ token: sessionToken, session } = await kernel.administration.createSession({ ...who, ...more }));
    },
    endSession: () => kernel.administration.revokeSession(session.id),
    /** The next kernel of the same state. */
    async reopen() {
      await kernel.close();
      kernel = await open();
      await kernel.ready();
    },
    call,
    run: (command: string, more: JsonObject = {}) => call("shell", { command, ...more }),
    pending: () =>
      vi.waitFor(
        async () => {
          const [approval] = await kernel.approvals.list({ state: "pending" });
          if (approval === undefined) throw new Error("nobody asks");
          return approval;
        },
        { timeout: 60_000, interval: 20 },
      ),
  };
}
