// What a scratch directory must not be: a way into the workspace, to other files of the machine, to other sessions, or
// to a full disk.
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askingPlace } from "../../../../support/asking-place.ts";

type Place = Awaited<ReturnType<typeof askingPlace>>;

const scratchOf = ({ place }: Place) => {
  const views = join(place.state, "views");
  const [name = ""] = readdirSync(views).filter((one) => one.startsWith("scratch-"));
  return join(views, name);
};

test.each([
  ["a secret of the workspace", "/workspace/.env", ".env"],
  ["the workspace by its real path", undefined, ".env"],
  ["another file of the machine", "/etc/passwd", undefined],
  ["what lies above", "../../../config/handrail.yaml", undefined],
])("a link to %s leads nowhere", async (_, inside, own) => {
  const place = await askingPlace();
  place.place.put("workspace/.env", "TOKEN=abcdef-of-somebody\n");
  const target = inside ?? join(place.place.workspace, own ?? "");
  await place.run(`ln -s ${target} /scratch/link; ln -s / /scratch/slash`);
  expect(readdirSync(scratchOf(place))).toContain("link"); // the control: the link is there
  for (const path of ["/scratch/link", "/scratch/slash/etc/passwd", `/scratch/slash${target}`]) {
    const { outcome } = await place.call("read_file", { path });
    expect([path, outcome.kind]).not.toEqual([path, "success"]);
    expect(JSON.stringify(outcome)).not.toContain("abcdef-of-somebody");
    expect((await place.call("write_file", { path, content: "written" })).outcome.kind).not.toBe("success");
  }
  expect(readFileSync(join(place.place.workspace, ".env"), "utf8")).toBe("TOKEN=abcdef-of-somebody\n");
});

test("nothing gets into the workspace by way of it unasked", async () => {
  const place = await askingPlace();
  const moving = place.run("echo obey > /scratch/a; cp /scratch/a AGENTS.md");
  const { ref } = await place.pending();
  await place.cli("deny", ref);
  await moving;
  expect(existsSync(join(place.place.workspace, "AGENTS.md"))).toBe(false);
  await place.run("cp /scratch/a plain.txt"); // the control
  expect(place.textOf("plain.txt")).toBe("obey\n");
});

test.each(["/scratch/../views", "/scratch/../../handrail.yaml", "/scratchy/file", "/scratch\0/file"])(
  "%j is no path of it",
  async (path) => {
    const place = await askingPlace();
    const { outcome } = await place.call("write_file", { path, content: "x" });
    expect(["denied", "error"]).toContain(outcome.kind);
  },
);

test("a session that is told the name of another one's directory does not reach it", async () => {
  const place = await askingPlace();
  await place.call("write_file", { path: "/scratch/private", content: "of the first" });
  const first = scratchOf(place);
  await place.nextSession();
  for (const path of [join(first, "private"), `/scratch/../${first.split("/").at(-1)}/private`])
    expect((await place.call("read_file", { path })).outcome.kind).toBe("denied");
  const { outcome } = await place.run(`cat ${first}/private; ls -la ${first}`);
  expect(JSON.stringify(outcome)).not.toContain("of the first");
  const { outcome: own } = await place.run("ls /scratch");
  expect(JSON.stringify(own)).not.toContain("private");
});

test("programs of it have no rights of another user, and a person's link in its place is not followed", async () => {
  const place = await askingPlace();
  await place.run("cp /usr/bin/id /scratch/id && chmod 4755 /scratch/id; /scratch/id -u > own.txt");
  expect(place.textOf("own.txt")).toBe("1000\n");
  await place.endSession();
  const { state, workspace } = place.place;
  const made = readdirSync(join(state, "views")).filter((one) => one.startsWith("scratch-"));
  writeFileSync(join(workspace, "kept.txt"), "kept");
  symlinkSync(workspace, join(state, "views", `${made[0]?.replace(/-ses_.*/, "")}-ses_over`));
  await place.reopen(); // which removes what is over
  await expect.poll(() => existsSync(join(state, "views", made[0] ?? "")), { timeout: 60_000 }).toBe(false);
  expect(readFileSync(join(workspace, "kept.txt"), "utf8")).toBe("kept");
});
