/**
 * Program: a kernel in which calls wait for people, asked by a line on standard input, answering with one on standard
 * output.
 *
 * `fill N` makes N calls that are asked about and answered at once, `plain N` such that nobody is asked about, `wait N`
 * such that wait. `look` answers the processor time (ms) and the memory (MiB) of this process, after collecting garbage
 * with `look collected`. `one` makes one call and answers when it went on, by the machine's monotonic clock (ns).
 * `ring` answers when a change in a directory was noticed.
 */
import { watch } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { approvalSettings } from "../../src/config/sections/approvals.ts";
import { openKernel } from "../../src/server/compose.ts";
import { APPROVALS_LISTED_MAX } from "../../src/server/people/approval-acts.ts";

const [stateDirectory = "", configDirectory = "", workspace = "", bell = ""] = process.argv.slice(2);
/** As many as people are asked about in a minute. */
const CALLS_PER_AGENT = approvalSettings.parse({}).prompts_per_minute;
const CALLS_AT_ONCE = 256;

const kernel = await openKernel({ environment: {}, stateDirectory, configDirectory });
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
const tokens: Promise<string>[] = [];
let calls = 0;

function tokenOf(agent: number): Promise<string> {
  tokens[agent] ??= kernel.administration
    .createSession({ workspace, userId: "bench", agentId: `agent-${agent}` })
    .then(({ token }) => token);
  return tokens[agent];
}

async function ask(isAsked = true): Promise<{ readonly outcome: { readonly kind: string } }> {
  calls += 1;
  const number = calls;
  const sessionToken = await tokenOf(Math.floor(number / CALLS_PER_AGENT));
  return kernel.door.execute(
    {
      kind: "call",
      requestId: `bench-${number}`,
      sessionToken,
      tool: "write_file",
      // each of a kind of its own: of one kind they would share a request
      arguments: { path: isAsked ? `.github/${number}.yml` : "plain.md", content: `${number}\n` },
    },
    new AbortController().signal,
  );
}

async function callMany(count: number, isAsked: boolean): Promise<string> {
  for (let left = count; left > 0; left -= CALLS_AT_ONCE) {
    const answered = await Promise.all(Array.from({ length: Math.min(left, CALLS_AT_ONCE) }, () => ask(isAsked)));
    const unexpected = answered.find(({ outcome }) => outcome.kind !== (isAsked ? "denied" : "success"));
    if (unexpected) throw new Error(`a call did not end as it should: ${JSON.stringify(unexpected)}`);
  }
  return "made";
}

const answers: Readonly<Record<string, (argument: string) => Promise<string>>> = {
  fill: (argument) => callMany(Number(argument), true),
  plain: (argument) => callMany(Number(argument), false),
  async wait(argument) {
    const count = Number(argument);
    for (let started = 0; started < count; started += 1)
      ask().catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
    // as many as one listing has
    while ((await kernel.approvals.list({ state: "pending" })).length < Math.min(count, APPROVALS_LISTED_MAX))
      await pause(50);
    await pause(1000);
    return "waiting";
  },
  async look(argument) {
    const { user, system } = process.cpuUsage();
    if (argument === "collected") collect();
    return JSON.stringify({ processorMs: (user + system) / 1000, memoryMiB: process.memoryUsage.rss() / 2 ** 20 });
  },
  async one() {
    const { outcome } = await ask();
    return `${process.hrtime.bigint()} ${outcome.kind}`;
  },
  ring: () =>
    new Promise((resolve) => {
      const watcher = watch(bell, () => {
        watcher.close();
        resolve(String(process.hrtime.bigint()));
      });
      process.stdout.write("ready\n");
    }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const [name = "", argument = ""] = line.split(" ");
  answers[name]?.(argument).then(
    (answer) => process.stdout.write(`${answer}\n`),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    },
  );
}
await kernel.close();
process.exit(0);
