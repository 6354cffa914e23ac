/** A kernel whose commands reach servers of the test with secrets that they do not know. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { newId, systemRandom } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { Outcome } from "../../src/model/tool/call.ts";
import { type OpenKernel, openKernel } from "../../src/server/compose.ts";
import { filesWith, isToldIn } from "./canary.ts";
import { newCertificate } from "./certificate.ts";
import { Internet, PUBLIC_ADDRESS } from "./egress.ts";
import { freshPlace, type Place } from "./place.ts";

/** A secret as `handrail.yaml` has it, and its value. */
export interface PlacedSecret {
  readonly value: string;
  readonly placeholder: string;
  readonly bindings: readonly JsonObject[];
}

/** What came of a command. */
export interface CommandEnd {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: unknown;
  readonly outcome: Outcome;
}

/** The place. */
export interface SecretPlace {
  readonly place: Place;
  readonly kernel: OpenKernel;
  readonly internet: Internet;
  readonly call: (tool: string, args: JsonObject) => Promise<Outcome>;
  /** Runs a command that asks for the network. */
  readonly run: (command: string) => Promise<CommandEnd>;
}

/**
 * Opens it.
 * @param servers by name, what answers at port 443; all prove themselves by one certificate, which the kernel believes
 */
export async function secretPlace(
  servers: Readonly<Record<string, RequestListener>>,
  secrets: Readonly<Record<string, PlacedSecret>>,
  more: JsonObject = {},
): Promise<SecretPlace> {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const [first = "none.example", ...others] = Object.keys(servers);
  const certificate = newCertificate(place.base, first, ...others);
  let number = 0;
  for (const [name, listener] of Object.entries(servers)) {
    number += 1;
    await internet.https(name, 443, certificate, listener);
    // each has an address of its own
    const address = `93.184.217.${number}`;
    internet.names.set(name, [address]);
    internet.servers.set(`${address}:443`, internet.servers.get(`${PUBLIC_ADDRESS}:443`) ?? 0);
  }
  const settings = {
    preset: "open",
    web: { certificate_authorities: certificate.certFile },
    sandbox: { toolchains: [join(process.cwd(), ".toolchain")] },
    secrets: Object.fromEntries(
      Object.entries(secrets).map(([name, { placeholder, bindings }]) => [
        name,
        { from: { env: `REAL_${name}` }, placeholder, bindings },
      ]),
    ),
    ...more,
  };
  place.put("config/handrail.yaml", JSON.stringify(settings));
  const values = Object.entries(secrets).map(([name, { value }]) => [`REAL_${name}`, value] as const);
  const kernel = await openKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: { HOME: place.home, ...Object.fromEntries(values) },
    network: internet.network,
    onWarning: () => undefined,
  });
  const answers: Outcome[] = [];
  // after every test: nothing that is kept or answered holds a value
  onTestFinished(async () => {
    await kernel.close();
    const hidden = values.map(([, value]) => value);
    expect([filesWith(place.base, hidden), isToldIn(answers, hidden)]).toEqual([[], false]);
  });
  const { token } = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "bob",
    agentId: "helper",
  });
  const call = async (tool: string, args: JsonObject) => {
    const submission = {
      kind: "call",
      requestId: newId("req", systemRandom),
      sessionToken: token,
      tool,
      arguments: args,
    };
    const { outcome } = await kernel.door.execute({ ...submission, kind: "call" }, new AbortController().signal);
    answers.push(outcome);
    return outcome;
  };
  return {
    place,
    kernel,
    internet,
    call,
    async run(command) {
      const outcome = await call("shell", { command, network_access: true });
      if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
      const data = outcome.data as JsonObject;
      return {
        stdout: String(data["stdout"] ?? ""),
        stderr: String(data["stderr"] ?? ""),
        exitCode: data["exit_code"],
        outcome,
      };
    },
  };
}

/** A server that answers whoever has the key, and tells everybody what was sent. */
export function lockedBy(
  isOpen: (request: IncomingMessage) => boolean,
  answer: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end("open"),
): RequestListener {
  return (request, response) => {
    request.resume();
    if (isOpen(request)) return answer(request, response);
    const sent = JSON.stringify(request.headers);
    response.writeHead(401, { "www-authenticate": "Basic" }).end(`closed: ${request.url} ${sent}`);
  };
}
