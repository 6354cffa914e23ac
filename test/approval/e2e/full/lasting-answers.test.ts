/** Answers that last, from the command line: effects of commands, look-ups, what is of no kind, and the way back. */
import { expect, test } from "vitest";
import { askingPlace } from "../../../support/asking-place.ts";
import { newRepository } from "../../../support/git-place.ts";

test("what commands write to one file is answered once for the session, or for the project", async () => {
  const place = await askingPlace();
  const first = place.run("echo one > AGENTS.md");
  const { ref } = await place.pending();
  const shown = await place.cli("approvals", "show", ref);
  expect(shown.stdout).toContain("create, change or delete this file, by a command (dev.write-protected)");
  const approved = await place.cli("approve", ref, "--yes", "--for", "kind");
  expect([approved.code, approved.stdout]).toEqual([
    0,
    expect.stringContaining("for all calls of its kind, for the session"),
  ]);
  expect((await first).outcome.kind).toBe("success");
  expect((await place.run("printf 'two\\n' | tee AGENTS.md")).outcome.kind).toBe("success");
  expect(place.textOf("AGENTS.md")).toBe("two\n");

  await place.nextSession();
  const other = place.run("echo three > AGENTS.md");
  const again = await place.pending();
  expect((await place.cli("approve", again.ref, "--yes", "--for", "project:30d")).stdout).toContain(
    "in this workspace",
  );
  expect((await other).outcome.kind).toBe("success");
  await place.nextSession();
  expect((await place.run("echo four > AGENTS.md")).outcome.kind).toBe("success");
  const listed = await place.cli("approvals", "list", "--only", "approved");
  expect(listed.stdout).toContain("used 2 times");

  expect((await place.cli("deny", again.ref)).code).toBe(0);
  const refused = place.run("echo five > AGENTS.md");
  const last = await place.pending();
  await place.cli("deny", last.ref);
  await refused;
  expect(place.textOf("AGENTS.md")).toBe("four\n");
});

test("a look-up is of a kind with its host; a command that may send something is of none", async () => {
  const place = await askingPlace();
  const network = { network_access: true };
  const viewing = place.run("gh pr view 12 | head -5", network);
  const { ref } = await place.pending();
  const { stdout } = await place.cli("approvals", "show", ref);
  expect(stdout).toMatch(/by gh pr view, whatever it asks for \(FC-2,\s+shell\.network\)\n│ api\.github\.com/);
  expect((await place.cli("approve", ref, "--yes", "--for", "kind")).code).toBe(0);
  expect((await viewing).outcome.kind).toBe("success"); // it ran; there is no such program here
  expect((await place.run("gh pr view 13 --json title", network)).outcome.kind).toBe("success");

  for (const command of ["gh api repos/a/b https://api.github.com", "./gh pr view 1 https://api.github.com"]) {
    const sending = place.run(command, network);
    const asked = await place.pending();
    const refused = await place.cli("approve", asked.ref, "--yes", "--for", "kind");
    expect([refused.code, refused.stderr]).toEqual([
      64,
      expect.stringContaining("of no kind that can be answered for"),
    ]);
    await place.cli("deny", asked.ref);
    expect((await sending).outcome.kind).toBe("denied");
  }
});

test("fetching from a remote is of a kind with its address: one that is renamed or moved asks again", async () => {
  const place = await askingPlace();
  const repository = newRepository(place.place.workspace);
  repository.git("commit", "-q", "--allow-empty", "-m", "first");
  repository.git("remote", "add", "origin", "https://git.example/own.git");
  const fetching = () => place.call("git", { operation: "FETCH", args: ["origin"] });
  const first = fetching();
  const { ref } = await place.pending();
  const shown = await place.cli("approvals", "show", ref);
  expect(shown.stdout).toMatch(/contact host, port 443, by git fetch/);
  expect((await place.cli("approve", ref, "--yes", "--for", "kind")).code).toBe(0);
  expect((await first).outcome.kind).toBe("error"); // there is no such host
  expect((await fetching()).outcome.kind).toBe("error"); // and nobody is asked: the control
  for (const change of [
    ["remote", "set-url", "origin", "https://git.example/of-somebody-else.git"],
    ["remote", "rename", "origin", "old"],
  ]) {
    repository.git(...change);
    if (change[1] === "rename") repository.git("remote", "add", "origin", "https://evil.example/own.git");
    const again = fetching();
    await place.cli("approve", (await place.pending()).ref, "--yes"); // a denial would hold for the next one, too
    expect((await again).outcome.kind).toBe("error");
  }
});
