/** Servers that hang, flood, die, lie or eat memory are ended; the kernel goes on, and the next one is started. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  LanguageServers,
  type ServerBounds,
  type WarmServer,
} from "../../../../../src/sandbox/language/language-servers.ts";
import type { ServerKind } from "../../../../../src/sandbox/language/server-kinds.ts";
import { ServerFailure } from "../../../../../src/sandbox/language/server-process.ts";
import type { SandboxLimits, ScopeJudge } from "../../../../../src/sandbox/sandbox.ts";
import { doubleProgram } from "../../../../support/language-place.ts";
import { LIMITS, newSandboxPlace, own, type SandboxPlace } from "../../../../support/sandbox-place.ts";

const READS: ScopeJudge = { entry: () => "read", below: () => "read", isWhole: () => false };
const METHOD = "textDocument/references";
const SLOW = { timeout: 120_000 };

let place: SandboxPlace;
beforeEach(() => {
  place = newSandboxPlace();
  writeFileSync(join(place.root, "server.mjs"), doubleProgram());
  behave({});
});
afterEach(() => place.close());

function behave(behaviour: object): void {
  writeFileSync(join(place.root, "behaviour.json"), JSON.stringify(behaviour));
  own(place.root);
}

const KIND: ServerKind = {
  name: "double",
  languages: { ".ts": "typescript" },
  command: ["node", "/workspace/server.mjs"],
  advice: "none",
};

/** A pool with smaller bounds, and questions to it. */
function pool(bounds: ServerBounds = {}, limits: Partial<SandboxLimits> = {}) {
  const servers = new LanguageServers({ pauseMs: 200, ...bounds });
  let starts = 0;
  const ask = async <Answer>(work: (server: WarmServer) => Promise<Answer>, root = place.root, name = "double") => {
    const { signal } = new AbortController();
    return await servers.ask(
      {
        kind: { ...KIND, name },
        root,
        mounts: await place.sandbox.mountsOf({ root, judge: READS }, signal),
        memoryMb: 256,
        signal,
        start: async ({ input, output, signal }, onMounts) => {
          starts += 1;
          return await place.sandbox.run(
            {
              root,
              judge: READS,
              command: KIND.command,
              workDir: "/workspace",
              environment: {},
              limits: { ...LIMITS, outputBytesMax: 2 ** 33, memoryBytesMax: 2 ** 30, ...limits },
              input,
              onMounts,
            },
            output,
            signal,
          );
        },
      },
      work,
    );
  };
  const references = (name?: string) => ask((server) => server.request(METHOD, {}), place.root, name);
  return { servers, ask, references, starts: () => starts };
}

async function troubleOf(answer: Promise<unknown>): Promise<string> {
  try {
    return `answered ${JSON.stringify(await answer)}`;
  } catch (error) {
    return error instanceof ServerFailure ? error.trouble : String(error);
  }
}

test.each(["hang", "silent"])(
  "a server that does not answer (%s) is ended in time, and started again after a pause",
  SLOW,
  async (how) => {
    behave({ [how]: METHOD });
    const { references, servers, starts } = pool({ requestMs: 500, pauseMs: 3000 });
    await servers.close();
    expect(await troubleOf(references())).toBe("timed_out");
    // not at once, and it says so
    await expect(references()).rejects.toThrow(/started again in \d s/);
    expect(starts()).toBe(1);
    behave({ answers: { [METHOD]: [] } });
    await wait(3100);
    expect(await troubleOf(references())).toBe("answered []");
    await servers.close();
    expect(servers.count).toBe(0);
  },
);

test("a server that is slow each time does not hold a question up for long", SLOW, async () => {
  behave({ slow: METHOD, answers: { [METHOD]: [] } });
  const many = (servers: ReturnType<typeof pool>) =>
    servers.ask(async (server) => {
      for (let at = 0; at < 10; at += 1) await server.request(METHOD, {});
      return "all";
    });
  const bounded = pool({ questionMs: 2000 });
  expect(await troubleOf(many(bounded))).toBe("timed_out");
  await bounded.servers.close();
  const control = pool({ questionMs: 60_000 });
  expect(await troubleOf(many(control))).toBe('answered "all"');
  await control.servers.close();
});

test("control: without the bound of time the question hangs", SLOW, async () => {
  behave({ hang: METHOD });
  const { references, servers } = pool({ requestMs: 60_000 });
  const asked = troubleOf(references());
  expect(await Promise.race([asked, wait(4000).then(() => "still waits")])).toBe("still waits");
  await servers.close();
  expect(await asked).toBe("cancelled");
});

test.each([
  ["flood", "flooded"],
  ["shout", "flooded"],
  ["gush", "failed"],
])("a server that does not stop talking (%s) is ended, and holds nothing up", SLOW, async (how, trouble) => {
  behave({ [how]: METHOD });
  const { references, servers } = pool({ requestMs: 60_000 });
  const startedMs = performance.now();
  expect(await troubleOf(references())).toBe(trouble);
  // a reader that looks through everything again with each piece takes 17 s
  expect(performance.now() - startedMs).toBeLessThan(12_000);
  await servers.close();
});

test("control: the flood has no end of its own", SLOW, async () => {
  behave({ gush: METHOD });
  let bytes = 0;
  const request = JSON.stringify({ jsonrpc: "2.0", id: 1, method: METHOD });
  const ended = await place.sandbox.run(
    {
      root: place.root,
      judge: READS,
      command: KIND.command,
      workDir: "/workspace",
      environment: {},
      limits: { ...LIMITS, outputBytesMax: 64 * 2 ** 20 },
      input: (writer) => void writer.write(`Content-Length: ${request.length}\r\n\r\n${request}`),
    },
    {
      stdout: (piece) => {
        bytes += piece.length;
      },
      stderr: () => undefined,
    },
    new AbortController().signal,
  );
  expect(ended.endedBy).toBe("output");
  expect(bytes).toBeGreaterThan(64 * 2 ** 20);
});

test("a server that eats memory is ended by its sandbox", SLOW, async () => {
  behave({ eat: METHOD });
  const { references, servers } = pool({ requestMs: 60_000 }, { memoryBytesMax: 256 * 2 ** 20 });
  expect(await troubleOf(references())).toBe("failed");
  await servers.close();
});

test("a server that dies at its start says why, and is not started with each call", SLOW, async () => {
  behave({ dieAtStart: true });
  const { references, starts } = pool({ pauseMs: 60_000 });
  await expect(references()).rejects.toThrow("no licence");
  for (let at = 0; at < 5; at += 1) await expect(references()).rejects.toThrow("no licence");
  expect(starts()).toBe(1);
});

test("a server that dies at a question, or speaks nonsense, is started again", SLOW, async () => {
  const { references, servers, starts } = pool({ pauseMs: 1 });
  for (const how of ["die", "nonsense"]) {
    behave({ [how]: METHOD });
    expect(await troubleOf(references())).toBe("failed");
    behave({ answers: { [METHOD]: [] } });
    await wait(50);
    expect(await troubleOf(references())).toBe("answered []");
  }
  expect(starts()).toBe(3);
  await servers.close();
});

test("an answer to another's question is nobody's, and what a server asks for is not done", SLOW, async () => {
  behave({ otherId: METHOD, asks: METHOD, stolen: ["stolen"], answers: { [METHOD]: ["own"] } });
  const { references, servers } = pool();
  expect(await Promise.all([references(), references()])).toEqual([["own"], ["own"]]);
  await servers.close();
});

test(
  "four servers at most run: the one that was asked longest ago ends; idle ones end by themselves",
  SLOW,
  async () => {
    behave({ answers: { [METHOD]: [] } });
    const { references, servers, starts } = pool({ idleMs: 60_000 });
    for (const name of ["one", "two", "three", "four", "five"]) await references(name);
    expect(servers.count).toBe(4);
    await references("five");
    expect(starts()).toBe(5);
    await references("one");
    expect(starts()).toBe(6);
    await servers.close();
    const idle = pool({ idleMs: 100 });
    await idle.references();
    for (let looks = 0; looks < 100 && idle.servers.count > 0; looks += 1) await wait(100);
    expect(idle.servers.count).toBe(0);
  },
);

test("a server whose workspace shows other files than before is not asked", SLOW, async () => {
  behave({ answers: { [METHOD]: [] } });
  const { servers, starts } = pool();
  const hiding: ScopeJudge = { ...READS, entry: (path) => (path.startsWith("closed") ? "hidden" : "read") };
  const { signal } = new AbortController();
  const askBy = async (judge: ScopeJudge) => {
    const mounts = await place.sandbox.mountsOf({ root: place.root, judge }, signal);
    return await servers.ask(
      {
        kind: KIND,
        root: place.root,
        mounts,
        memoryMb: 256,
        signal,
        start: async ({ input, output, signal }, onMounts) =>
          await place.sandbox.run(
            {
              root: place.root,
              judge,
              command: KIND.command,
              workDir: "/workspace",
              environment: {},
              limits: { ...LIMITS, memoryBytesMax: 2 ** 30 },
              input,
              onMounts,
            },
            output,
            signal,
          ),
      },
      async (server) => await server.request(METHOD, {}),
    );
  };
  await askBy(hiding);
  expect(servers.count).toBe(1);
  mkdirSync(join(place.root, "closed"));
  writeFileSync(join(place.root, "closed.txt"), "new and closed");
  expect(existsSync(join(place.root, "closed.txt"))).toBe(true);
  await askBy(hiding);
  expect(servers.count).toBe(2);
  await servers.close();
  expect(starts()).toBe(0);
});
