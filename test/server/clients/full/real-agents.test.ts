// Agents that others wrote are set up and run against doubles of their models: they have Handrail's tools and none of
// their own, read and edit a file, mend a call that was refused by what the refusal says, and wait for a person.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../../../src/base/ids.ts";
import { addApprover, saveApproverToken } from "../../../../src/server/people/approver-credentials.ts";
import { dataIn, handrail, until } from "../../../support/command-line.ts";
import { readEvidence } from "../../../support/evidence.ts";
import {
  anthropicDouble,
  geminiDouble,
  type ModelDouble,
  openaiDouble,
  type Script,
} from "../../../support/model-apis.ts";
import { freshPlace, type Place } from "../../../support/place.ts";
import { installAgents, runAgent } from "../../../support/real-agents.ts";

beforeAll(() => installAgents(), 600_000);

const CODE = "export const timeout = 5;\n";

function placeForAgents(): Place {
  const place = freshPlace();
  place.put("config/handrail.yaml", "approvals: { wait_seconds: 45 }\n");
  place.put("workspace/src/limits.ts", CODE);
  place.put("workspace/.env", "KEY=sesame\n");
  return place;
}

/** An agent, the files in which it finds its model, and what starts it. */
interface Agent {
  readonly client: "claude-code" | "codex" | "gemini";
  readonly prepare?: (place: Place, model: ModelDouble) => void;
  readonly run: (place: Place, model: ModelDouble) => Promise<string>;
}

const CLAUDE: Agent = {
  client: "claude-code",
  run: (place, { address }) =>
    runAgent(place, "claude", {
      args: ["-p", "raise the timeout"],
      environment: {
        ANTHROPIC_BASE_URL: address,
        ANTHROPIC_API_KEY: "none",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        MCP_TOOL_TIMEOUT: "150000",
      },
    }),
};

const CODEX: Agent = {
  client: "codex",
  prepare: (place, { address }) =>
    place.put(
      "home/.codex/config.toml",
      `model = "gpt-5.5"\nmodel_provider = "double"\n\n[model_providers.double]\nname = "double"\nbase_url = "${address}/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n`,
    ),
  run: (place) =>
    runAgent(place, "codex", {
      args: ["exec", "--skip-git-repo-check", "raise the timeout"],
      environment: { MODEL_KEY: "none" },
    }),
};

const GEMINI: Agent = {
  client: "gemini",
  prepare: (place) =>
    place.put("home/.gemini/settings.json", '{"security":{"auth":{"selectedType":"gemini-api-key"}}}'),
  run: (place, { address }) =>
    runAgent(place, "gemini", {
      args: ["-m", "gemini-2.5-pro", "-p", "hello"],
      environment: {
        GEMINI_API_KEY: "none",
        GOOGLE_GEMINI_BASE_URL: address,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_TELEMETRY_ENABLED: "false",
      },
    }),
};

/** The steps of a model that reads, is refused, mends, edits, and asks to write what a person has to allow. */
const WORKS: Script = (results) => {
  const path = "src/limits.ts";
  const edit = (old_string: string) => ({ tool: "edit_file", input: { path, old_string, new_string: "timeout = 30" } });
  const steps = [
    () => ({ tool: "read_file", input: { path } }),
    () => ({ tool: "read_file", input: { path: ".env" } }),
    () => edit("timeout  = 5"),
    () => edit(/timeout = \d+/.exec(results.at(-1) ?? "")?.[0] ?? "nothing was said"),
    () => ({ tool: "write_file", input: { path: "CLAUDE.md", content: "be careful\n" } }),
  ];
  return steps[results.length]?.() ?? { text: "the timeout is 30" };
};

/** A person who approves what is asked first, until the agent has ended. */
async function approves(place: Place, ended: AbortSignal): Promise<void> {
  await saveApproverToken(place.config, await addApprover(place.state, "ada", systemRandom));
  let waiting: readonly { readonly approval_ref: string }[] = [];
  await until(async () => {
    if (ended.aborted) return true;
    const { code, stdout } = await handrail(place, ["approvals", "list", "--json"]);
    if (code !== 0) return false; // the agent has not started a kernel yet
    waiting = dataIn<typeof waiting>(stdout);
    return waiting.length > 0;
  });
  for (const { approval_ref: ref } of waiting)
    expect(await handrail(place, ["approve", ref, "--yes"])).toMatchObject({ code: 0 });
}

async function setUp(place: Place, { client, prepare }: Agent, model: ModelDouble): Promise<void> {
  prepare?.(place, model);
  const more = ["--config", place.config, "--state", place.state];
  expect(await handrail(place, ["setup", client, "--workspace", place.workspace, ...more])).toMatchObject({ code: 0 });
}

describe.each([
  { agent: CLAUDE, double: anthropicDouble },
  { agent: CODEX, double: openaiDouble },
])("$agent.client", ({ agent, double }) => {
  test("reads, is refused, mends its call, edits, and waits for a person", { timeout: 300_000 }, async () => {
    const place = placeForAgents();
    const model = await double(WORKS);
    await setUp(place, agent, model);
    const approving = new AbortController();
    const running = agent.run(place, model).finally(() => approving.abort());
    const [printed] = await Promise.all([running, approves(place, approving.signal)]);
    expect(printed).toContain("the timeout is 30");
    const [read, secret, missed, edited, written] = model.results();
    expect(read).toContain("timeout = 5");
    expect(secret).toContain("ZONE:secret");
    expect(secret).not.toContain("sesame");
    expect(missed).toContain("timeout = 5");
    expect(edited).toContain("timeout = 30");
    expect(written).not.toContain("TOOL_APPROVAL");
    expect(readFileSync(join(place.workspace, "src/limits.ts"), "utf8")).toBe("export const timeout = 30;\n");
    expect(readFileSync(join(place.workspace, "CLAUDE.md"), "utf8")).toBe("be careful\n");
    const decided = (await readEvidence(place.state)).filter(
      ({ entry }) => entry.eventType === "tool_approval_decided",
    );
    expect(decided.map(({ payload }) => payload)).toMatchObject([{ approved: true, by: "ada" }]);
  });
});

describe("tools of an agent's own", () => {
  const OWN = {
    "claude-code": ["Bash", "Read", "Edit", "Write", "Glob", "Grep", "WebFetch", "WebSearch", "NotebookEdit", "LSP"],
    codex: ["exec_command", "write_stdin", "view_image", "web_search", "shell"],
    gemini: ["run_shell_command", "read_file", "write_file", "replace", "glob", "grep_search", "list_directory"],
  } as const;

  test.each([
    { agent: CLAUDE, double: () => anthropicDouble(() => ({ text: "done" }), false) },
    { agent: CODEX, double: () => openaiDouble(() => ({ text: "done" }), false) },
    { agent: GEMINI, double: () => geminiDouble() },
  ])(
    "$agent.client: are offered before it is set up, and not after",
    { timeout: 300_000 },
    async ({ agent, double }) => {
      const place = placeForAgents();
      const model = await double();
      agent.prepare?.(place, model);
      const own: ReadonlySet<string> = new Set(OWN[agent.client]);
      await agent.run(place, model);
      expect(model.offered().filter((name) => own.has(name))).not.toEqual([]);
      await setUp(place, agent, model);
      await agent.run(place, model);
      expect(model.offered()).not.toEqual([]);
      expect(model.offered().filter((name) => own.has(name))).toEqual([]);
    },
  );

  test("codex: what patches files by itself is refused by its own sandbox", { timeout: 300_000 }, async () => {
    const patch =
      "*** Begin Patch\n*** Update File: src/limits.ts\n@@\n-export const timeout = 5;\n+hacked\n*** End Patch";
    const script: Script = (results) =>
      results.length === 0 ? { own: "apply_patch", input: patch } : { text: "done" };
    const place = placeForAgents();
    const model = await openaiDouble(script, false);
    await setUp(place, CODEX, model);
    await CODEX.run(place, model);
    expect(model.results()[0]).toContain("rejected");
    expect(readFileSync(join(place.workspace, "src/limits.ts"), "utf8")).toBe(CODE);
    // the control: without the setting that the set-up makes, the patch is applied
    const config = join(place.home, ".codex", "config.toml");
    place.put("home/.codex/config.toml", readFileSync(config, "utf8").replace('"read-only"', '"danger-full-access"'));
    await CODEX.run(place, model);
    expect(readFileSync(join(place.workspace, "src/limits.ts"), "utf8")).toBe("hacked\n");
  });
});
