// Toolchains that lie where the user of commands cannot go, as below root's home: they are seen, and nothing beside
// them.
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asSandboxUser, newSandboxPlace } from "../../support/sandbox-place.ts";

/** A toolchain in a directory that is closed to everybody but who runs the test. */
function closedToolchain() {
  const closed = realpathSync(mkdtempSync(join(tmpdir(), "handrail-closed-")));
  onTestFinished(() => rmSync(closed, { recursive: true, force: true }));
  const toolchain = join(closed, "toolchain");
  mkdirSync(join(toolchain, "bin"), { recursive: true });
  writeFileSync(join(closed, "private"), "private");
  writeFileSync(join(toolchain, "bin/own-runner"), "#!/bin/sh\necho ran\n");
  for (const path of [toolchain, join(toolchain, "bin"), join(toolchain, "bin/own-runner")]) chmodSync(path, 0o755);
  chmodSync(join(closed, "private"), 0o644);
  return { closed, toolchain };
}

const isRoot = process.geteuid?.() === 0;

test.each(["the sandbox's user", "the kernel's user"])(
  "a toolchain below a closed directory serves a workspace of %s",
  async (owner) => {
    const { closed, toolchain } = closedToolchain();
    const place = newSandboxPlace({ toolchains: [toolchain] });
    onTestFinished(() => place.close());
    if (isRoot && owner === "the kernel's user") chownSync(place.root, 0, 0);
    const ran = await place.run(
      `own-runner; touch made; ls -A ${closed}; cat ${closed}/private; touch ${toolchain}/made`,
    );
    expect(ran.stdout).toBe("ran\ntoolchain\n");
    expect(ran.stderr).toContain("No such file or directory");
    expect(ran.stderr).toContain("Read-only file system");
  },
);

test("the control: by its own path such a toolchain is closed to that user, where it is another one", () => {
  const { toolchain } = closedToolchain();
  const run = () => asSandboxUser(join(toolchain, "bin/own-runner"));
  if (isRoot) expect(run).toThrow("ended with null");
  else expect(run()).toBe("ran\n");
});
