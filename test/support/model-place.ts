/** A kernel that asks models of providers which stand in an internet of the test. */
import { mkdtempSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { blake3Hex } from "../../src/base/hash.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { modelSettings, providersOf } from "../../src/config/sections/tools/models.ts";
import type { Mark } from "../../src/model/outcome/label.ts";
import type { Outcome } from "../../src/model/tool/call.ts";
import { createRedactor } from "../../src/redact/redact.ts";
import { SecretBroker } from "../../src/sandbox/net/broker/broker.ts";
import { inferenceTools } from "../../src/tools/inference/inference-tools.ts";
import { filesWith, isToldIn } from "./canary.ts";
import { newCertificate } from "./certificate.ts";
import { Internet } from "./egress.ts";
import { type CallOptions, type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** The key of the providers, and what stands for it. */
export const MODEL_KEY = "sk-proj-9rT4mXw2Lq8Zk5Yb7Nc1Vd3Fs6Hj0Pa2Qe4uYt7";
/** What stands for it. */
export const MODEL_PLACEHOLDER = "sk-proj-AAAAbbbbCCCCddddEEEEffffGGGGhhhhIIIIjjjj";

/** Where providers of each protocol stand. */
export const MODEL_HOSTS = { openai: "api.openai.test", anthropic: "api.anthropic.test", ollama: "models.lan" };

/** Asks without a person, as `open` does. */
const FREELY = `@id("test.models")
@message("m")
@waives("*")
permit (principal, action == Handrail::Action::"inference", resource);
`;

/** What answers by each protocol, and what the operator says. */
export interface ModelPlaceOptions extends Omit<MemoryKernelOptions, "models" | "network" | "broker"> {
  readonly openai?: RequestListener;
  readonly anthropic?: RequestListener;
  readonly ollama?: RequestListener;
  /** More of each provider's settings. */
  readonly provider?: JsonObject;
  /** The key, as it can be read now. */
  readonly keyValue?: string | undefined;
  /** No permit of the test's allows every call: the shipped policies stand, and `policies` beside them. */
  readonly asks?: boolean;
}

/** The place. */
export interface ModelPlace {
  readonly kernel: MemoryKernel;
  readonly internet: Internet;
  /** Stores a text, and gives its hash. */
  readonly store: (text: string) => Promise<string>;
  readonly ask: (args: JsonObject, options?: CallOptions) => Promise<Outcome>;
}

/** Opens it. */
export async function modelPlace(options: ModelPlaceOptions): Promise<ModelPlace> {
  const { openai, anthropic, ollama, provider = {}, asks = false, ...more } = options;
  const value = "keyValue" in options ? options.keyValue : MODEL_KEY;
  const internet = new Internet();
  const directory = mkdtempSync(join(tmpdir(), "handrail-models-"));
  onTestFinished(() => {
    internet.close();
    rmSync(directory, { recursive: true });
  });
  const certificate = newCertificate(directory, MODEL_HOSTS.openai, MODEL_HOSTS.anthropic);
  if (openai) await internet.https(MODEL_HOSTS.openai, 443, certificate, openai);
  if (anthropic) await internet.https(MODEL_HOSTS.anthropic, 443, certificate, anthropic);
  if (ollama) await internet.http(MODEL_HOSTS.ollama, 11434, ollama);
  internet.names.set(MODEL_HOSTS.anthropic, ["93.184.216.35"]);
  internet.servers.set("93.184.216.35:443", internet.servers.get("93.184.216.34:443") ?? 0);
  const models = modelSettings.parse({
    ...(openai && {
      openai: { protocol: "openai", url: `https://${MODEL_HOSTS.openai}/v1`, secret: "MODEL_KEY", ...provider },
    }),
    ...(anthropic && {
      anthropic: {
        protocol: "anthropic",
        url: `https://${MODEL_HOSTS.anthropic}/v1`,
        secret: "MODEL_KEY",
        ...provider,
      },
    }),
    ...(ollama && { local: { protocol: "ollama", url: `http://${MODEL_HOSTS.ollama}:11434`, ...provider } }),
  });
  const bound = (host: string, name: string) => ({
    host,
    port: 443,
    path: "/v1",
    place: { kind: "header", name } as const,
  });
  const kernel = await memoryKernel({
    tools: inferenceTools(providersOf(models)),
    models,
    network: internet.network,
    webAuthorities: certificate.certFile,
    broker: new SecretBroker([
      {
        name: "MODEL_KEY",
        placeholder: MODEL_PLACEHOLDER,
        ...(value !== undefined && { value }),
        bindings: [bound(MODEL_HOSTS.openai, "Authorization"), bound(MODEL_HOSTS.anthropic, "x-api-key")],
      },
    ]),
    redactor: createRedactor({
      known: [{ rule: "brokered-secret", value: MODEL_KEY }],
      allow: { allows: (_, secret) => secret === MODEL_PLACEHOLDER, definition: "placeholders" },
    }),
    ...(!asks && { policies: FREELY }),
    ...more,
  });
  const answers: Outcome[] = [];
  // after every test: nothing that is kept or answered holds the key
  onTestFinished(() => {
    const kept = [...kernel.ledger.events, ...answers];
    expect([filesWith(kernel.state, [MODEL_KEY]), filesWith(kernel.root, [MODEL_KEY])]).toEqual([[], []]);
    expect(isToldIn(kept, [MODEL_KEY])).toBe(false);
  });
  return {
    kernel,
    internet,
    async store(content) {
      const { outcome } = await kernel.call("put_content", { content });
      if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
      return blake3Hex(Buffer.from(content));
    },
    async ask(args, call) {
      const { outcome } = await kernel.call("inference", args, call);
      const [unexpected] = kernel.internalErrors;
      if (unexpected !== undefined) throw unexpected;
      answers.push(outcome);
      return outcome;
    },
  };
}

/** The data of a call that went well. */
export function dataOf(outcome: Outcome): JsonObject {
  if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
  return outcome.data as JsonObject;
}

/** Stores a text under a label that no tool would give it, for the session's user. */
export async function storeLabelled(kernel: MemoryKernel, text: string, mark: Mark, userId = "test"): Promise<string> {
  const chunks = (async function* () {
    yield Buffer.from(text);
  })();
  const staged = await kernel.content.stage(chunks, {}, new AbortController().signal);
  const label = { ...mark, source: { origin: "test", timestamp: "2026-01-01T00:00:00.000Z" } };
  const owner = { userId, workspace: kernel.session.serviceRoot };
  return (await staged.commit({ owner, label, nowMs: kernel.time.nowMs })).hash;
}
