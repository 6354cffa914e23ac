// The bell: a ring is heard in every process, waiting costs nothing, and what cannot be heard is not waited for.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Bell } from "../../../../src/model/outcome/bell.ts";
import { openBell } from "../../../../src/stores/embedded/approvals/bell.ts";

let directory: string;
const open: Bell[] = [];
const bell = async () => {
  const one = await openBell(directory, (error) => {
    throw error;
  });
  open.push(one);
  return one;
};
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "handrail-bell-"));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.close()));
  rmSync(directory, { recursive: true });
});

/** The next ring of `topic`. */
const ringOf = async (one: Bell, topic: "approvals" | "freezes") => {
  const heard = Promise.withResolvers<void>();
  const stop = await one.listen(topic, () => heard.resolve());
  return { heard: heard.promise.then(stop) };
};

test("a ring is heard by other kernels and by the one that rings, also the first one of a directory", async () => {
  const [own, other] = [await bell(), await bell()];
  const heard = [await ringOf(own, "approvals"), await ringOf(other, "approvals")];
  await own.ring("approvals");
  await Promise.all(heard.map((one) => one.heard));
});

test("a ring is heard where other programs of the user have all watchers of the system", async () => {
  const program = `import { openBell } from ${JSON.stringify(join(import.meta.dirname, "../../../../src/stores/embedded/approvals/bell.ts"))};
    const bell = await openBell(${JSON.stringify(directory)}, (error) => { throw error; });
    const heard = new Promise((resolve) => bell.listen("freezes", resolve));
    const kept = setTimeout(() => process.exit(2), 60_000);
    await bell.ring("freezes");
    await heard;
    clearTimeout(kept);
    await bell.close();`;
  // in a user namespace that gives nobody a watcher
  const child = spawn(
    "unshare",
    [
      ...["--user", "--map-root-user", "--", "sh", "-c"],
      'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"',
      ...["sh", process.execPath, "--input-type=module-typescript", "-e", program],
    ],
    { stdio: "inherit" },
  );
  expect(await new Promise((resolve) => child.once("exit", resolve))).toBe(0);
});

test("a ring of another process is heard", async () => {
  const one = await bell();
  await one.ring("freezes");
  const { heard } = await ringOf(one, "freezes");
  const program = `import { openBell } from ${JSON.stringify(join(import.meta.dirname, "../../../../src/stores/embedded/approvals/bell.ts"))};
    await (await openBell(${JSON.stringify(directory)}, () => process.exit(1))).ring("freezes");`;
  const child = spawn(process.execPath, ["--input-type=module-typescript", "-e", program], { stdio: "inherit" });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await heard;
  expect(await ended).toBe(0);
});

test("a ring of one topic is not heard by those who wait for another, and nobody hears after they stopped", async () => {
  const one = await bell();
  const heard: string[] = [];
  await one.listen("freezes", () => heard.push("freezes"));
  const stop = await one.listen("approvals", () => heard.push("stopped"));
  stop();
  const after = await ringOf(one, "approvals");
  await one.ring("approvals");
  await after.heard;
  expect(heard).toEqual([]);
});

test("a directory that is gone refuses to ring and to listen", async () => {
  const one = await bell();
  rmSync(join(directory, "bells"), { recursive: true });
  await expect(one.ring("approvals")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  await expect(one.listen("approvals", () => undefined)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
});
