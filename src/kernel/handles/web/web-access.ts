/**
 * Sends the requests of a call, each hop judged by its own host.
 *
 * INVARIANTS: the first host is one that analysis named, so that lease and policy saw it, and people where they had to.
 * A host that an answer leads on to must be allowed outright. Everything is asked again before each hop. Each attempt
 * is in the ledger before the call is answered. Of a request that may have changed something and has no answer, nobody
 * says that it changed nothing.
 */
import { FailureWithoutEffect, Refusal, ToolFailure } from "../../../model/outcome/failure.ts";
import type { WebAccess, WebAnswer, WebRequest } from "../../../model/reach/web.ts";
import type { WebAddress } from "../../../names/web-address.ts";
import { judgeHost } from "../../judge/decide.ts";
import { checkNamed } from "../../judge/lease-names.ts";
import { checkNetwork } from "../../judge/network-rules.ts";
import { unanalysedHost } from "../../judge/scope.ts";
import type { HandleParts } from "../handle-parts.ts";
import { requireAllowed } from "../still-allowed.ts";
import { MISMATCH, misplaced } from "./misplaced.ts";

/** The web for one call. */
export function createWebAccess(handle: HandleParts): WebAccess {
  const { running } = handle;
  return {
    fetch: (request) =>
      running.run.changes.during(
        () => (CHANGES.has(request.method) ? sent(handle, request) : fetched(handle, request)),
        () => CHANGES.has(request.method),
      ),
  };
}

/** A request by which a server may change something. @throws ToolFailure OUTCOME_UNKNOWN where it may have */
async function sent(handle: HandleParts, request: WebRequest): Promise<WebAnswer> {
  let hops = 0;
  try {
    return await fetched(handle, request, () => {
      hops += 1;
    });
  } catch (error) {
    if (hops === 0 || error instanceof FailureWithoutEffect) throw error;
    // the request itself is wrong about a secret, and was not sent
    if (hops === 1 && error instanceof Refusal && error.denial.reason === MISMATCH) throw error;
    if (!(error instanceof ToolFailure) && !(error instanceof Refusal)) throw error;
    throw new ToolFailure(
      "OUTCOME_UNKNOWN",
      `${error.message}; the server may have done what was asked`,
      "look at what is there now before asking again",
    );
  }
}

/** Methods by which a server may change something. */
const CHANGES: ReadonlySet<WebRequest["method"]> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

async function fetched(
  handle: HandleParts,
  request: WebRequest,
  onBegin: () => void = () => undefined,
): Promise<WebAnswer> {
  const { kernel, running, signal } = handle;
  const fetcher = await kernel.parts.web.open();
  const recorded: Promise<unknown>[] = [];
  const record = (writing: Promise<unknown>) => {
    writing.catch(() => undefined); // whoever waits for all of them is told
    recorded.push(writing);
  };
  let isFirst = true;
  try {
    return await fetcher.fetch(request, {
      signal,
      broker: kernel.parts.secrets.brokerBy(running.redaction.by),
      async judge(address) {
        await requireAllowed(handle);
        requireHost(handle, address, isFirst);
        isFirst = false;
        onBegin();
      },
      record: (attempt) => record(kernel.evidence.networkAttempt(running, attempt)),
    });
  } catch (error) {
    throw misplaced(error);
  } finally {
    await Promise.all(recorded);
  }
}

/** @throws Refusal where the call may not reach the host */
function requireHost({ running }: HandleParts, { host: { host }, port }: WebAddress, isFirst: boolean): void {
  const { tool, caller, policy, receivedAtMs: nowMs, accesses } = running;
  const resource = { kind: "host", host, port } as const;
  const isNamed = accesses.some(
    (one) => one.resource.kind === "host" && one.resource.host === host && one.resource.port === port,
  );
  if (isNamed) return;
  if (isFirst) throw new Refusal(unanalysedHost(tool.name, `${host}:${port}`));
  const denial =
    checkNamed(caller.lease, resource) ??
    checkNetwork(tool, [{ resource, effect: "network" }], caller.place) ??
    judgeHost({ tool, caller, policy, nowMs }, host, port);
  if (denial !== undefined) throw new Refusal(denial);
}
