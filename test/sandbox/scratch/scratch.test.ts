// The scratch directory of a session: for its files and commands alike, outside of the workspace, and gone with it.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UNRESTRICTED_SCOPE } from "../../../src/model/people/lease.ts";
import { askingPlace } from "../../support/asking-place.ts";

type Place = Awaited<ReturnType<typeof askingPlace>>;

const textOf = ({ outcome }: Awaited<ReturnType<Place["call"]>>): string => JSON.stringify(outcome);

test("files and commands of a session share it, nobody is asked, and nothing of it lands", async () => {
  const place = await askingPlace();
  const written = await place.call("write_file", { path: "/scratch/plans/plan.md", content: "first\nsecond\n" });
  expect(written.outcome.kind).toBe("success");
  const ran = await place.run(
    "cat /scratch/plans/plan.md; echo third >> /scratch/plans/plan.md; echo x > /scratch/own",
  );
  expect(textOf(ran)).toContain("first\\nsecond");
  expect(textOf(await place.call("read_file", { path: "/scratch/plans/plan.md" }))).toContain("third");
  expect(textOf(await place.call("read_file", { path: "/scratch/own" }))).toContain("x");
  const edits = [{ operation: "replace", spec: "second", content: "2nd" }];
  const edited = await place.call("edit_file", { path: "/scratch/plans/plan.md", edits });
  expect(edited.outcome.kind).toBe("success");
  const found = textOf(await place.call("search_file", { path: "/scratch", regex: "2nd", recursive: true }));
  expect(found).toContain("/scratch/plans/plan.md");
  expect(textOf(await place.call("list_files", { path: "/scratch" }))).toContain("plans");
  expect((await place.call("delete_file", { path: "/scratch/own" })).outcome.kind).toBe("success");
  expect(existsSync(join(place.place.workspace, "plans"))).toBe(false);
  expect(readdirSync(place.place.workspace)).not.toContain("own");
  const undone = await place.cli("history", "--json");
  expect(undone.stdout).not.toContain("plan.md");
});

test("it is granted, whatever the lease says of the workspace, and what people's tools obey is nothing there", async () => {
  const place = await askingPlace();
  await place.nextSession({ scope: { ...UNRESTRICTED_SCOPE, writePaths: [["src/**"]], readPaths: [["src/**"]] } });
  expect((await place.call("write_file", { path: "AGENTS.txt", content: "x" })).outcome.kind).toBe("denied"); // the control
  for (const path of ["/scratch/AGENTS.md", "/scratch/.github/workflows/ci.yml", "/scratch/notes.md"]) {
    expect([path, (await place.call("write_file", { path, content: "x" })).outcome.kind]).toEqual([path, "success"]);
    expect((await place.call("read_file", { path })).outcome.kind).toBe("success");
  }
});

test("each session has its own, and the next kernel removes those of sessions that are over", async () => {
  const place = await askingPlace();
  await place.call("write_file", { path: "/scratch/private", content: "of the first" });
  const [name] = readdirSync(join(place.place.state, "views")).filter((one) => one.startsWith("scratch-"));
  await place.endSession();
  await place.nextSession();
  expect((await place.call("read_file", { path: "/scratch/private" })).outcome.kind).toBe("error");
  expect(textOf(await place.run("ls -a /scratch; ls /scratch/.. | grep -c scratch"))).not.toContain("private");
  await place.reopen();
  await expect
    .poll(() => existsSync(join(place.place.state, "views", name ?? "")), { timeout: 60_000, interval: 50 })
    .toBe(false);
});
