// Git over https through the proxy, against a real git server on loopback: what a remote is asked, with whose
// credential, and who sees it.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../../src/base/json.ts";
import { FailureWithoutEffect } from "../../../src/model/outcome/failure.ts";
import { type GitRemotes, NO_GIT_REMOTES } from "../../../src/model/work/git-remote.ts";
import { git } from "../../../src/tools/git/git.ts";
import { newCertificate } from "../../support/certificate.ts";
import { Internet } from "../../support/egress.ts";
import { plainGit } from "../../support/git-place.ts";
import { gitServer, seed } from "../../support/git-server.ts";
import { type MemoryKernelOptions, memoryKernel } from "../../support/memory-kernel.ts";
import { freshPlace } from "../../support/place.ts";
import { testedBackend } from "../../support/sandbox-place.ts";

const LOGIN = { username: "bot", password: "kN3-correct-horse-77" };
const HOST = "git.example";

/** A kernel that knows the server's credential and certificate, unless `given` says otherwise. */
async function opened(
  given: { readonly authority?: boolean; readonly password?: string | undefined } = {},
  options: Partial<MemoryKernelOptions> = {},
) {
  const { authority = true, password = "password" in given ? undefined : LOGIN.password } = given;
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST);
  const server = gitServer(join(place.base, "served"), LOGIN);
  const bare = server.add("team/service.git");
  const first = seed(bare, join(place.base, "seed"), { "a.txt": "alpha\n" });
  await internet.https(HOST, 443, certificate, server.listener);
  const value = password && `Basic ${Buffer.from(`${LOGIN.username}:${password}`).toString("base64")}`;
  const gitRemotes: GitRemotes = {
    ...NO_GIT_REMOTES,
    authorization: ({ host }) => (host === HOST ? value : undefined),
    authorities: () => (authority ? certificate.cert : undefined),
  };
  const kernel = await memoryKernel({
    tools: [git],
    preset: "open",
    backend: testedBackend,
    session: { role: "release_manager" },
    network: internet.network,
    gitRemotes,
    ...options,
  });
  const ask = async (cwd: string | undefined, operation: string, ...args: readonly string[]) => {
    const { outcome } = await kernel.call("git", { operation, args, ...(cwd !== undefined && { cwd }) });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return outcome;
  };
  const run = async (cwd: string | undefined, operation: string, ...args: readonly string[]): Promise<JsonObject> => {
    const outcome = await ask(cwd, operation, ...args);
    if (outcome.kind !== "success") throw new Error(JSON.stringify(outcome));
    return outcome.data;
  };
  const refused = async (cwd: string | undefined, operation: string, ...args: readonly string[]): Promise<string> => {
    const outcome = await ask(cwd, operation, ...args);
    if (outcome.kind === "denied") return `${outcome.denial.reason}: ${outcome.denial.message}`;
    return outcome.kind === "error"
      ? `${outcome.code}: ${outcome.message} (${outcome.suggestion})`
      : `success: ${JSON.stringify(outcome.data)}`;
  };
  return { place, internet, server, bare, first, kernel, run, refused };
}

const ADDRESS = `https://${HOST}/team/service.git`;

test("a repository is cloned, fetched from, pulled and pushed to, and nothing of the credential is left", async () => {
  const { place, server, bare, first, kernel, run } = await opened();
  expect(await run(undefined, "CLONE", ADDRESS, "service")).toMatchObject({ directory: "service" });
  const root = join(kernel.root, "service");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("alpha\n");
  const plain = plainGit(root);
  expect(plain.git("remote", "get-url", "origin").trim()).toBe(ADDRESS);

  const other = plainGit(join(place.base, "seed"));
  const second = other.commit("more", { "b.txt": "beta\n" });
  other.git("push", "--quiet", bare.directory, "main");
  await run("service", "FETCH");
  expect(plain.git("rev-parse", "origin/main").trim()).toBe(second);
  expect(await run("service", "PULL", "origin", "main")).toMatchObject({ commit: second });

  await run("service", "CHECKOUT", "-b", "work");
  const third = plain.commit("work", { "c.txt": "x".repeat(100) });
  server.requests.length = 0;
  expect(await run("service", "PUSH", "--dry-run", "origin", "work")).toMatchObject({
    dry_run: true,
    text: expect.stringContaining(ADDRESS),
  });
  expect(server.requests.map(({ method }) => method)).toEqual(["GET"]);
  expect(bare.tried("rev-parse", "work").code).not.toBe(0);
  await run("service", "PUSH", "origin", "work");
  expect(bare.git("rev-parse", "work").trim()).toBe(third);
  expect(bare.git("rev-parse", "main").trim()).toBe(second);
  expect(first).not.toBe(second);

  expect(JSON.stringify(kernel.ledger.events)).not.toContain(LOGIN.password);
  expect(readFileSync(join(root, ".git/config"), "utf8")).not.toContain("bot");
  expect(kernel.ledger.of("tool_executed").at(-1)?.payload).toMatchObject({
    sandbox: { backend: testedBackend(), network: "proxy" },
  });
  expect(kernel.ledger.of("network_reached").at(-1)?.payload).toMatchObject({
    host: HOST,
    port: 443,
    outcome: "allowed",
    via: "request",
  });
});

test.each([
  [
    "no certificate that is believed",
    { authority: false, password: LOGIN.password },
    /was not reached \(certificate\)/,
  ],
  ["no credential", { authority: true, password: undefined }, /git\.credentials/],
  ["another password", { authority: true, password: "another-password" }, /git\.credentials/],
])("%s: the call says what is missing, and makes nothing", async (_, given, expected) => {
  const { kernel, refused } = await opened(given);
  expect(await refused(undefined, "CLONE", ADDRESS, "service")).toMatch(expected);
  expect(existsSync(join(kernel.root, "service/.git"))).toBe(false);
});

test("a credential that cannot be read refuses the call before git runs", async () => {
  const unreadable: GitRemotes = {
    ...NO_GIT_REMOTES,
    authorization() {
      throw new FailureWithoutEffect("GIT_FAILED", "it cannot be read", "ask the operator");
    },
  };
  const { internet, refused } = await opened({}, { gitRemotes: unreadable });
  expect(await refused(undefined, "CLONE", ADDRESS, "service")).toBe(
    "GIT_FAILED: it cannot be read (ask the operator)",
  );
  expect(internet.lookedUp).toEqual([]);
});
