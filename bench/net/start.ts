/**
 * What the way out costs a command at its start: one that may reach a host, next to the same without the network; and
 * one whose host a secret is bound to, next to one whose host none is bound to.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { newId, systemRandom } from "../../src/base/ids.ts";
import { openKernel } from "../../src/server/compose.ts";
import { interleave, microsecondsEachAwaited, type Row } from "../measure.ts";
import type { Effort } from "../options.ts";
import type { Playground } from "../playground.ts";

const BOUND = "bound.example";
const SECRETS = {
  API_KEY: {
    from: { env: "REAL_KEY" },
    placeholder: "sk-live-AbCdEfGhIjKlMnOpQrStUv12",
    bindings: [{ to: BOUND, in: "header Authorization" }],
  },
};

/** The figures. */
export async function measureStarts(playground: Playground, effort: Effort): Promise<readonly Row[]> {
  const configDirectory = playground.directory("start-config");
  mkdirSync(configDirectory, { recursive: true, mode: 0o700 });
  const settings = { preset: "open", secrets: SECRETS };
  writeFileSync(join(configDirectory, "handrail.yaml"), JSON.stringify(settings), { mode: 0o600 });
  const kernel = await openKernel({
    stateDirectory: playground.directory("start-state"),
    configDirectory,
    environment: { HOME: playground.root, REAL_KEY: "sk-live-4f9Qm2Zx8Lw1Rt6Yb3Nc7Vd0" },
    onWarning: () => undefined, // the preset says that it asks nothing
  });
  try {
    const { token } = await kernel.administration.createSession({
      workspace: playground.directory("start-workspace"),
      userId: "bench",
      agentId: "bench",
    });
    const starting = (args: Readonly<Record<string, unknown>>) => async () => {
      const call = { kind: "call", requestId: newId("req", systemRandom), sessionToken: token } as const;
      const { outcome } = await kernel.door.execute(
        { ...call, tool: "shell", arguments: args },
        new AbortController().signal,
      );
      if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    };
    const alone = starting({ command: "true" });
    const reaching = starting({ command: "true https://plain.example/", network_access: true });
    const bound = starting({ command: `true https://${BOUND}/`, network_access: true });
    const runs = effort.rounds === 1 ? 3 : 20;
    const each = (one: () => Promise<void>) => async () => (await microsecondsEachAwaited(runs, one)) / 1000;
    for (const one of [alone, reaching, bound]) await one();
    const row = { unit: "ms", better: "lower" } as const;
    return [
      await interleave(
        { ...row, id: "net-start", what: "a command that may reach a host", peer: "the same without the network" },
        effort.rounds,
        each(reaching),
        each(alone),
      ),
      await interleave(
        {
          ...row,
          id: "net-secret",
          what: "a command whose host a secret is bound to",
          peer: "one whose host has none",
        },
        effort.rounds,
        each(bound),
        each(reaching),
      ),
    ];
  } finally {
    await kernel.close();
  }
}
