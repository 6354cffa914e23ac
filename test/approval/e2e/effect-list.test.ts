/** `handrail approvals show --full`: whoever may approve sees all that a command has changed, from another process. */
import { expect, onTestFinished, test, vi } from "vitest";
import { openKernel } from "../../../src/server/compose.ts";
import { dataIn, handrail } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const ASKS = `
@id("data.asks")
@ask("data is looked at")
permit (principal, action == Handrail::Action::"commit", resource is Handrail::File)
when { resource.path like "data/*" };
`;

test("all that is asked about is printed for approvers, while it waits and afterwards, until it is collected", async () => {
  const place = freshPlace();
  place.put("config/policy/data.cedar", ASKS);
  const added = await handrail(place, ["approvers", "add", "ada", "--json"]);
  const { token } = dataIn<{ token: string }>(added.stdout);
  const environment = { HANDRAIL_APPROVER_TOKEN: token };
  const kernel = await openKernel({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
  onTestFinished(() => kernel.close());
  const caller = await kernel.administration.createSession({
    workspace: place.workspace,
    userId: "ann",
    agentId: "agent",
  });
  const submission = {
    kind: "call",
    requestId: "r-1",
    sessionToken: caller.token,
    tool: "shell",
    arguments: { command: "mkdir data; seq 1 6000 > data/seq; printf 'a\\033[31mb' > data/red" },
  } as const;
  const called = kernel.door.execute(submission, new AbortController().signal);
  const ref = await vi.waitFor(
    async () => {
      const [approval] = await kernel.approvals.list({ state: "pending" });
      if (approval === undefined) throw new Error("nobody asks");
      return approval.ref;
    },
    { timeout: 120_000, interval: 20 },
  );
  const show = (...args: readonly string[]) => handrail(place, ["approvals", "show", ref, ...args], { environment });

  const part = await show();
  expect(part.stdout).toMatch(/handrail approvals show\s+[0-9a-f]{12} --full/);
  expect(part.stdout).not.toContain("│ +5999");
  const all = await show("--full");
  expect(all.code).toBe(0);
  expect(all.stdout.split("│ +5999\n")).toHaveLength(2);
  expect(all.stdout).toContain("│ +a⟨U+001B⟩[31mb");
  const one = await show("--path", "data/red");
  expect([one.stdout.includes("data/red"), one.stdout.includes("data/seq")]).toEqual([true, false]);
  const json = await show("--full", "--json");
  const records = json.stdout
    .trimEnd()
    .split("\n")
    .map((line) => (JSON.parse(line) as { data: Record<string, unknown> }).data);
  expect(records[0]).toMatchObject({ approval_ref: ref, request: { tool: "shell" } });
  const lines = records.flatMap((record) => (record["path"] === "data/seq" ? [String(record["lines"] ?? "")] : []));
  expect(
    lines
      .join("")
      .split("\n")
      .filter((line) => line.startsWith("+")),
  ).toHaveLength(6000);

  const nobody = await handrail(place, ["approvals", "show", ref, "--full"], {
    environment: { HANDRAIL_APPROVER_TOKEN: `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}` },
  });
  expect([nobody.code, nobody.stdout, nobody.stderr]).toEqual([64, "", expect.stringContaining("no approver's")]);
  const nothing = await show("--path", "other");
  expect([nothing.code, nothing.stderr]).toEqual([64, expect.stringContaining("nothing at that path")]);

  await kernel.approvals.decide(ref, { approved: true }, token);
  expect((await called).outcome.kind).toBe("success");
  expect((await show("--full")).stdout).toContain("│ +5999\n");
  await handrail(place, ["cas", "gc", "--grace", "0s"]);
  const gone = await show("--full");
  expect([gone.code, gone.stderr]).toEqual([64, expect.stringContaining("not kept any more")]);
});
