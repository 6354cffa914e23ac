/**
 * What an untrusted workspace says of its own files restricts them and moves none of them into a zone that a permit
 * names.
 */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseSettings } from "../../../src/config/config.ts";
import type { ZoneRules } from "../../../src/model/place/zone.ts";
import { planWorkspace } from "../../../src/server/workspace/workspace-catalog.ts";
import { type MemoryKernel, memoryKernel } from "../../support/memory-kernel.ts";
import { freshPlace } from "../../support/place.ts";

/** An operator who allows reading what is shared, writing what is protected, and nothing else. */
const POLICIES = `@id("op.no-own")
@message("m")
forbid (principal, action, resource is Handrail::File) when { resource.zone == "own" };
@id("op.shared")
@message("m")
permit (principal, action, resource is Handrail::File) when { resource.zone == "shared" };
@id("op.protected")
@message("m")
@waives("dev.write-protected")
permit (principal, action, resource is Handrail::File) when { resource.zone == "protected" };
`;

async function kernelOf(policies: string): Promise<MemoryKernel> {
  const kernel = await memoryKernel({ policies });
  mkdirSync(join(kernel.root, "src"));
  writeFileSync(join(kernel.root, "src/core.txt"), "CORE\n");
  return kernel;
}

const ruleOf = async (
  kernel: MemoryKernel,
  tool: string,
  args: { readonly [name: string]: string },
): Promise<string> => {
  const { outcome } = await kernel.call(tool, args);
  return outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind;
};
const reading = { path: "src/core.txt" };
const writing = { path: "src/core.txt", content: "x" };

describe("under policies that go by zones", () => {
  test("read-only patterns of the workspace open nothing", async () => {
    const kernel = await kernelOf(POLICIES);
    expect(await ruleOf(kernel, "read_file", reading)).toBe("op.no-own");
    await kernel.rezone({ restrictedReadOnly: ["**"] });
    expect(await ruleOf(kernel, "read_file", reading)).toBe("op.no-own");
    // Control: as rules of the operator they make a zone, and the permit for it applies.
    await kernel.rezone({ readOnly: ["**"] });
    expect(await ruleOf(kernel, "read_file", reading)).toBe("success");
  });

  test("protected patterns of the workspace do not take files out of a rule for its own ones", async () => {
    const kernel = await kernelOf(POLICIES);
    await kernel.rezone({ restrictedProtected: ["src"] });
    expect(await ruleOf(kernel, "write_file", writing)).toBe("op.no-own");
    await kernel.rezone({ protected: ["src"] });
    expect(await ruleOf(kernel, "write_file", writing)).toBe("success");
  });
});

describe("what they restrict", () => {
  test("files that are read only are read and not written, also through a link", async () => {
    const kernel = await kernelOf("");
    symlinkSync("core.txt", join(kernel.root, "src/link.txt"));
    await kernel.rezone({ restrictedReadOnly: ["src/core.txt"] });
    expect(await ruleOf(kernel, "read_file", reading)).toBe("success");
    expect(await ruleOf(kernel, "write_file", writing)).toBe("ZONE:read_only");
    expect(await ruleOf(kernel, "write_file", { path: "src/link.txt", content: "x" })).toBe("ZONE:read_only");
    expect(await ruleOf(kernel, "write_file", { path: "src/other.txt", content: "x" })).toBe("success");
  });

  test("files that are protected ask before they are written, also through a link, and a waiver lifts that", async () => {
    const kernel = await kernelOf("");
    symlinkSync("core.txt", join(kernel.root, "src/link.txt"));
    await kernel.rezone({ restrictedProtected: ["src/core.txt"] });
    expect(await ruleOf(kernel, "read_file", reading)).toBe("success");
    expect(await ruleOf(kernel, "write_file", writing)).toBe("WORKSPACE:protected");
    expect(await ruleOf(kernel, "write_file", { path: "src/link.txt", content: "x" })).toBe("WORKSPACE:protected");
    const waiver = `@id("op.free")\n@message("m")\n@waives("WORKSPACE:protected")\npermit (principal, action == Handrail::Action::"write_file", resource is Handrail::File);\n`;
    const waived = await kernelOf(waiver);
    await waived.rezone({ restrictedProtected: ["src/core.txt"] });
    expect(await ruleOf(waived, "write_file", writing)).toBe("success");
  });
});

describe("the rules of a workspace", () => {
  test("are restrictions, and zones once the operator trusts them or has written them", async () => {
    const place = freshPlace();
    place.put(
      "workspace/handrail.yaml",
      "files: { secret: [keys], read_only: [gen], protected: [ci], shared: [libs] }\n",
    );
    const settings = await parseSettings("files: { read_only: [vendor] }\n", "handrail.yaml");
    const session = { serviceRoot: place.workspace, projectRoot: place.workspace } as Parameters<
      typeof planWorkspace
    >[1];
    const rulesOf = async (trusted: boolean): Promise<ZoneRules> =>
      (await planWorkspace(() => ({ settings, trusted: [] }), session, { hidden: [], assumeTrust: trusted })).rules;
    expect(await rulesOf(false)).toMatchObject({
      ownSecret: ["keys"],
      readOnly: ["vendor"],
      restrictedReadOnly: ["gen"],
      restrictedProtected: ["ci"],
    });
    expect((await rulesOf(false)).shared).not.toContain("libs");
    expect((await rulesOf(false)).protected).not.toContain("ci");
    const trusted = await rulesOf(true);
    expect(trusted).toMatchObject({ readOnly: ["vendor", "gen"], restrictedReadOnly: [], restrictedProtected: [] });
    expect([trusted.shared.includes("libs"), trusted.protected.includes("ci")]).toEqual([true, true]);
  });
});
