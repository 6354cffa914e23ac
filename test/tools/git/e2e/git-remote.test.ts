/**
 * A day's work: a repository is cloned from a server, changed on a branch, tested, committed and pushed, by two agents
 * and a person, through the whole kernel. The server is git's own, with TLS and a password, in a network of the test's;
 * everything else is as it is shipped.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import type { JsonObject } from "../../../../src/base/json.ts";
import { createKernel, type KernelSession } from "../../../../src/index.ts";
import { newCertificate } from "../../../support/certificate.ts";
import { dataIn, handrail } from "../../../support/command-line.ts";
import { Internet } from "../../../support/egress.ts";
import { readEvidence } from "../../../support/evidence.ts";
import { plainGit } from "../../../support/git-place.ts";
import { gitServer, seed } from "../../../support/git-server.ts";
import { freshPlace } from "../../../support/place.ts";

const HOST = "git.example";
const PRIVATE = "10.20.30.40";
const ADDRESS = `https://${HOST}/shop/orders.git`;
const NEXT_PASSWORD = "wR5-lantern-meadow-82";
const LOGIN = { username: "handrail-bot", password: "vQ8-sparrow-lantern-41" };

/** All files below `directory`, as they are. */
function contents(directory: string): readonly string[] {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  return names
    .map((name) => join(directory, name))
    .flatMap((path) => (statSync(path).isFile() ? [readFileSync(path, "latin1")] : []));
}

/** The bundled service as files of a commit. */
function service(): Readonly<Record<string, string>> {
  const names = readdirSync("examples/service", { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => statSync(join("examples/service", name)).isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join("examples/service", name), "utf8")]));
}

async function opened() {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST);
  const server = gitServer(join(place.base, "served"), LOGIN);
  const bare = server.add("shop/orders.git");
  const first = seed(bare, join(place.base, "seed"), service());
  const served = { listener: server.listener };
  await internet.https(HOST, 443, certificate, (request, response) => served.listener(request, response));
  // it lies in the operator's own network
  internet.servers.set(`${PRIVATE}:443`, [...internet.servers.values()][0] ?? 0);
  internet.names.set(HOST, [PRIVATE]);
  const settings = {
    git: {
      credentials: [
        {
          host: HOST,
          path: "shop",
          username: LOGIN.username,
          password: { file: place.put("kept/password", `${LOGIN.password}\n`) },
        },
      ],
      certificate_authorities: certificate.certFile,
      private_hosts: [HOST],
    },
    workspaces: [{ path: place.workspace, roles: ["dev", "release_manager"] }],
  };
  place.put("config/handrail.yaml", JSON.stringify(settings));
  const added = await handrail(place, ["approvers", "add", "ann", "--json"]);
  const { token: credential } = dataIn<{ token: string }>(added.stdout);
  const where = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const kernel = await createKernel({ ...where, network: internet.network });
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= kernel.close());
  onTestFinished(close);
  const session = (role: string, agentId: string) => kernel.openSession({ workspace: place.workspace, role, agentId });
  /** A call that waits until ann has approved it, in another process. */
  const approved = async (caller: KernelSession, tool: string, args: JsonObject) => {
    const calling = caller.call(tool, args);
    const ref = await vi.waitFor(
      async () => {
        const [asked] = await kernel.approvals.list({ state: "pending" });
        if (asked === undefined) throw new Error("nobody asks");
        return asked.ref;
      },
      { timeout: 120_000, interval: 20 },
    );
    const answer = await handrail(place, ["approve", ref, "--yes"], {
      environment: { HANDRAIL_APPROVER_TOKEN: credential },
    });
    expect([answer.code, answer.stderr]).toEqual([0, ""]);
    return (await calling).result;
  };
  return { place, served, server, bare, first, session, approved, close };
}

test("a service is cloned, changed, tested and committed by a developer, and pushed by a release manager once a person agrees", async () => {
  const { place, served, server, bare, first, session, approved, close } = await opened();
  const dev = await session("dev", "coder");
  const done = async (by: KernelSession, tool: string, args: JsonObject): Promise<JsonObject> => {
    const { result } = await by.call(tool, args);
    if (result.status !== "success") throw new Error(`${tool}: ${JSON.stringify(result)}`);
    return result.data as JsonObject;
  };

  expect(await approved(dev, "git", { operation: "CLONE", args: [ADDRESS, "."] })).toMatchObject({ status: "success" });
  const own = plainGit(place.workspace);
  expect(own.git("rev-parse", "HEAD").trim()).toBe(first);
  expect(await done(dev, "git_checkout", { branch: "smaller-discount", create_if_missing: true })).toMatchObject({
    branch: "smaller-discount",
  });
  const edit = { operation: "replace", spec: "Math.round(sum * 0.95)", content: "Math.round(sum * 95 / 100)" };
  await done(dev, "edit_file", { path: "src/order.js", edits: [edit] });
  expect(await done(dev, "run_test", {})).toMatchObject({ passed: true });
  expect(await done(dev, "git_status", {})).toMatchObject({ changed: [{ path: "src/order.js", status: "modified" }] });
  await done(dev, "git_add", { files: ["src/order.js"] });
  const { commit } = await done(dev, "git_commit", { message: "order: compute the discount in whole numbers" });

  // the server's password is another one now, and counts as soon as it is in the file
  served.listener = gitServer(
    join(place.base, "served"),
    { ...LOGIN, password: NEXT_PASSWORD },
    server.requests,
  ).listener;
  const release = await session("release_manager", "releaser");
  const tried = { operation: "PUSH", args: ["--dry-run", "origin", "smaller-discount"] };
  expect((await release.call("git", tried)).result).toMatchObject({ status: "error", error: { code: "GIT_FAILED" } });
  writeFileSync(join(place.base, "kept/password"), `${NEXT_PASSWORD}\n`);
  expect(await done(release, "git", tried)).toMatchObject({ dry_run: true });

  const push = { remote: "origin", branch: "smaller-discount", confirm: true };
  for (const [tool, args] of [
    ["git_push", push],
    ["git_push", { ...push, confirm: false }],
    ["git", { operation: "PUSH", args: ["origin", "smaller-discount"] }],
  ] as const)
    expect((await dev.call(tool, { ...args })).result).toMatchObject({
      status: "error",
      error: { code: "PERMISSION_DENIED" },
    });
  expect(bare.tried("rev-parse", "smaller-discount").code).not.toBe(0);

  server.requests.length = 0;
  expect(await done(release, "git_push", { ...push, confirm: false })).toMatchObject({ dry_run: true });
  expect(server.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
    "GET /shop/orders.git/info/refs?service=git-receive-pack",
  ]);
  expect(bare.tried("rev-parse", "smaller-discount").code).not.toBe(0);
  const pushed = await approved(release, "git_push", push);
  expect(pushed).toMatchObject({ status: "success", data: { dry_run: false, pushed: ["smaller-discount"] } });
  expect(bare.git("rev-parse", "smaller-discount").trim()).toBe(commit);
  await close();

  const evidence = await readEvidence(place.state);
  const payloads = (type: string) =>
    evidence.filter(({ entry }) => entry.eventType === type).map(({ payload }) => payload);
  const executed = payloads("tool_executed").map(({ tool, success }) => [tool, success]);
  expect(executed).toEqual([
    ...["git", "git_checkout", "edit_file", "run_test", "git_status", "git_add", "git_commit"].map((tool) => [
      tool,
      true,
    ]),
    ["git", false], // with the password of before
    ...["git", "git_push", "git_push"].map((tool) => [tool, true]),
  ]);
  expect(payloads("tool_execution_denied").map(({ tool }) => tool)).toEqual(["git_push", "git_push", "git"]);
  expect(payloads("tool_approval_decided")).toMatchObject([
    { by: "ann", approved: true, holds: true },
    { by: "ann", approved: true, holds: true },
  ]);
  const last = payloads("tool_executed").at(-1) ?? {};
  expect([typeof last["approvalId"], last["sandbox"]]).toEqual([
    "string",
    expect.objectContaining({ network: "proxy" }),
  ]);
  expect(last["accesses"]).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ kind: "git_ref", remote: "origin", ref: "smaller-discount", commit: String(commit) }),
      expect.objectContaining({ kind: "host", host: HOST, port: 443 }),
    ]),
  );
  const reached = payloads("network_reached");
  expect(new Set(reached.map(({ host, port }) => `${host}:${port}`))).toEqual(new Set([`${HOST}:443`]));
  const hidden = [NEXT_PASSWORD, LOGIN.password, Buffer.from(`${LOGIN.username}:${LOGIN.password}`).toString("base64")];
  const left = [...contents(place.workspace), ...contents(place.state), JSON.stringify(evidence)];
  for (const secret of hidden) expect(left.filter((text) => text.includes(secret))).toEqual([]);
});
