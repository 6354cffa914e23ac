/** An open kernel with settings about metrics, telemetry or logs, and a session of it, for the running test. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { MACHINE_NETWORK } from "../../src/sandbox/net/egress.ts";
import { type OpenKernel, openKernel } from "../../src/server/compose.ts";
import { freshPlace, type Place } from "./place.ts";

/** A kernel that is observed. */
export interface ObservedPlace {
  readonly place: Place;
  readonly kernel: OpenKernel;
  readonly token: string;
  readonly sessionId: string;
  readonly warnings: string[];
  readonly errors: unknown[];
  readonly call: (tool: string, args: JsonObject, more?: CallMore) => Promise<CallResponse>;
}

/** What is different from an ordinary call. */
export interface CallMore {
  readonly traceparent?: unknown;
  readonly token?: string;
  readonly requestId?: string;
}

/** Opens a kernel whose `handrail.yaml` holds `settings`. */
export async function observedPlace(
  settings = "",
  environment: Readonly<Record<string, string>> = {},
): Promise<ObservedPlace> {
  const place = freshPlace();
  writeFileSync(join(place.config, "handrail.yaml"), settings, { mode: 0o600 });
  writeFileSync(join(place.workspace, "a.txt"), "one\n");
  const warnings: string[] = [];
  const errors: unknown[] = [];
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    // the collector listens in this very process, which the gate keeps out of otherwise
    network: { ...MACHINE_NETWORK, isOwnPort: () => false },
    environment: { HOME: place.home, ...environment },
    onWarning: (message) => void warnings.push(message),
    onInternalError: (error) => void errors.push(error),
  });
  onTestFinished(() => kernel.close());
  const { token, session } = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "tester",
    agentId: "agent",
  });
  let count = 0;
  return {
    place,
    kernel,
    token,
    sessionId: session.id,
    warnings,
    errors,
    call(tool, args, { traceparent, token: shown = token, requestId } = {}) {
      count += 1;
      return kernel.door.execute(
        { kind: "call", requestId: requestId ?? `req-${count}`, sessionToken: shown, tool, arguments: args },
        new AbortController().signal,
        traceparent === undefined ? {} : { traceparent },
      );
    },
  };
}

/** The settings that send everything to the collector at `url`. */
export function otlpSettings(url: string, more = ""): string {
  return `telemetry:\n  otlp:\n    endpoint: ${url}\n${more}`;
}
