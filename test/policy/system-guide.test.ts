// What docs/guide/system-tools.md shows is what is read, and decides as it says.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parseSettings } from "../../src/config/config.ts";
import { systemOf } from "../../src/config/sections/tools/system.ts";
import type { CallResponse } from "../../src/model/tool/call.ts";
import { systemTools } from "../../src/tools/system/system-tools.ts";
import { systemKernel } from "../support/system-kernel.ts";

const guide = readFileSync(new URL("../../docs/guide/system-tools.md", import.meta.url), "utf8");

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, "s").exec(guide)?.[1];
  if (found === undefined) throw new Error(`the guide shows no ${language}`);
  return found;
}

function ended({ outcome }: CallResponse): string {
  return outcome.kind === "denied" ? `${outcome.denial.reason} ${outcome.denial.ruleId}` : outcome.kind;
}

test("the settings are valid and give all four tools", async () => {
  const { system } = await parseSettings(block("yaml"), "handrail.yaml");
  expect(system && systemTools(systemOf(system)).map(({ name }) => name)).toEqual([
    "install_package",
    "verify_binary",
    "system_ctl",
    "migrate_config",
  ]);
});

test("the rules hold: docker alone, and looking needs nobody", async () => {
  const kernel = await systemKernel({ preset: "dev", settings: { armed: false }, policies: block("cedar") });
  const call = async (service: string, action: string) => ended(await kernel.call("system_ctl", { service, action }));
  expect([
    await call("docker", "status"),
    await call("docker", "restart"),
    await call("app@1.service", "status"),
  ]).toEqual(["success", expect.stringMatching(/^tool_requires_arming /), "system_ctl_denied ops.docker-only"]);
  const without = await systemKernel({ preset: "dev", settings: { armed: false } });
  expect(ended(await without.call("system_ctl", { service: "docker", action: "status" }))).toMatch(
    /^tool_requires_arming /,
  ); // the control
});
