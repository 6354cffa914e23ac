// Remotes beside which something else happens: a push sends the commit that was approved, a pull merges what it fetched
// itself, and no tag comes along that was not asked for.
import type { RequestListener } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NO_GIT_REMOTES } from "../../../../src/model/work/git-remote.ts";
import { gitTools } from "../../../../src/tools/git/git-tools.ts";
import { newCertificate } from "../../../support/certificate.ts";
import { Internet } from "../../../support/egress.ts";
import { newRepository, plainGit } from "../../../support/git-place.ts";
import { gitServer } from "../../../support/git-server.ts";
import { memoryKernel } from "../../../support/memory-kernel.ts";
import { freshPlace } from "../../../support/place.ts";
import { testedBackend } from "../../../support/sandbox-place.ts";

const HOST = "git.example";
const ADDRESS = `https://${HOST}/team.git`;

/** A repository in the workspace and one on a server; `onRequest` is told of each request before it is answered. */
async function world() {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  const certificate = newCertificate(join(place.base, "tls"), HOST);
  const server = gitServer(join(place.base, "served"));
  const bare = server.add("team.git");
  const hook: { onRequest: (url: string) => void } = { onRequest: () => undefined };
  const listener: RequestListener = (request, response) => {
    hook.onRequest(request.url ?? "");
    server.listener(request, response);
  };
  await internet.https(HOST, 443, certificate, listener);
  const kernel = await memoryKernel({
    tools: [...gitTools],
    preset: "open",
    backend: testedBackend,
    session: { role: "release_manager" },
    network: internet.network,
    gitRemotes: { ...NO_GIT_REMOTES, authorities: () => certificate.cert },
  });
  const theirs = newRepository(join(place.base, "theirs"));
  theirs.commit("begin", { "a.txt": "a\n" });
  theirs.git("push", "--quiet", bare.directory, "main");
  const mine = plainGit(kernel.root);
  mine.git("clone", "--quiet", bare.directory, ".");
  mine.git("remote", "set-url", "origin", ADDRESS);
  const done = async (tool: string, args: Parameters<typeof kernel.call>[1]) => {
    const { outcome } = await kernel.call(tool, args);
    if (kernel.internalErrors.length > 0) throw kernel.internalErrors[0];
    return JSON.stringify(outcome);
  };
  const ask = (operation: string, ...args: readonly string[]) => done("git", { operation, args });
  return { bare, hook, theirs, mine, done, ask };
}

const isAboutPush = (url: string) => url.includes("info/refs?service=git-receive-pack");

test.each(["feature", "feature:feature", "feature~0:feature", "refs/heads/feature", "git_push"])(
  "a push of %s sends the commit that was judged, whatever the branch names by then",
  async (spec) => {
    const { bare, hook, mine, ask, done } = await world();
    mine.git("checkout", "--quiet", "-b", "feature");
    const judged = mine.commit("harmless", { "b.txt": "harmless\n" });
    let later = "";
    hook.onRequest = (url) => {
      if (isAboutPush(url) && later === "") later = mine.commit("evil", { "b.txt": "evil\n" });
    };
    const pushed =
      spec === "git_push"
        ? await done("git_push", { remote: "origin", branch: "feature", confirm: true })
        : await ask("PUSH", "origin", spec);
    expect(pushed).toContain('"success"');
    expect([bare.git("rev-parse", "feature").trim(), later]).toEqual([judged, expect.stringMatching(/^[0-9a-f]{40}$/)]);
  },
);

test("a push goes by whole names where a branch and a tag have one name, and takes an annotated tag as it is", async () => {
  const { bare, mine, ask, done } = await world();
  mine.git("checkout", "--quiet", "-b", "both");
  const branch = mine.commit("branch", { "b.txt": "b\n" });
  mine.git("tag", "-a", "-m", "both", "both", "main");
  expect(await ask("PUSH", "origin", "both")).toContain("is the name of a tag and of a branch");
  expect(await ask("PUSH", "origin", "refs/tags/both")).toContain('"success"');
  expect(bare.git("rev-parse", "refs/tags/both")).toBe(mine.git("rev-parse", "refs/tags/both"));
  expect(await done("git_push", { remote: "origin", branch: "both", confirm: true })).toContain('"success"');
  expect(bare.git("rev-parse", "refs/heads/both").trim()).toBe(branch);
});

test("a pull merges what it fetched, not what another fetch brought, nor a tag of the branch's name", async () => {
  const { bare, hook, theirs, mine, ask } = await world();
  const wanted = theirs.commit("more", { "a.txt": "more\n" });
  theirs.git("checkout", "--quiet", "-b", "feature");
  theirs.commit("evil", { "evil.txt": "evil\n" });
  theirs.git("tag", "main");
  theirs.git("push", "--quiet", bare.directory, "refs/heads/main", "refs/heads/feature", "refs/tags/main");
  hook.onRequest = () => mine.git("fetch", "--quiet", "--no-tags", bare.directory, "feature");
  expect(await ask("PULL", "origin", "main")).toContain('"success"');
  expect(mine.git("rev-parse", "refs/heads/main").trim()).toBe(wanted);
  // nothing of the call's own is left
  expect(mine.git("for-each-ref", "refs/handrail", "refs/tags")).toBe("");
  expect(mine.git("rev-parse", "FETCH_HEAD").trim()).not.toBe(wanted);
  // control: what plain git fetched is what it would merge
  mine.git("merge", "--quiet", "FETCH_HEAD");
  expect(mine.tried("cat-file", "-e", "HEAD:evil.txt").code).toBe(0);
});

test("tags come along when they are asked for", async () => {
  const { bare, theirs, mine, ask } = await world();
  theirs.git("tag", "feature");
  theirs.git("push", "--quiet", bare.directory, "feature");
  theirs.commit("more", { "a.txt": "more\n" });
  theirs.git("push", "--quiet", bare.directory, "main");
  expect(await ask("FETCH", "origin")).toContain('"success"');
  expect(mine.git("tag")).toBe("");
  expect(await ask("CLONE", ADDRESS, "without")).toContain('"success"');
  expect(mine.git("-C", "without", "tag")).toBe("");
  expect(await ask("FETCH", "--tags", "origin")).toContain('"success"');
  expect(mine.git("tag")).toBe("feature\n");
  expect(await ask("CLONE", "--tags", ADDRESS, "with")).toContain('"success"');
  expect(mine.git("-C", "with", "tag")).toBe("feature\n");
});

test("control: plain git brings them, and takes them before branches", async () => {
  const { bare, theirs, mine } = await world();
  theirs.git("tag", "main");
  theirs.git("push", "--quiet", bare.directory, "refs/tags/main");
  mine.commit("mine", { "b.txt": "b\n" });
  mine.git("fetch", "--quiet", bare.directory, "refs/heads/*:refs/remotes/origin/*");
  expect(mine.git("rev-parse", "main")).toBe(theirs.git("rev-parse", "refs/tags/main"));
});
