/**
 * System tools in a running kernel: switched on, changed and switched off by the operator's configuration alone, and
 * seen by the auditor.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diagnose } from "../../../../../src/server/doctor/doctor.ts";
import { createKernel } from "../../../../../src/server/doors/library.ts";
import { handrail, until } from "../../../../support/command-line.ts";
import { readEvidence } from "../../../../support/evidence.ts";
import { machinePlace, RECORDER } from "../../../../support/machine-place.ts";
import { freshPlace } from "../../../../support/place.ts";

const SYSTEM_NAMES = ["install_package", "migrate_config", "system_ctl", "verify_binary"];

test("what the operator lists is offered, no more and no longer, and everything stands in the audit as critical", async () => {
  const machine = machinePlace(onTestFinished);
  const place = freshPlace();
  const systemctl = machine.program("systemctl", RECORDER);
  const configure = (names: string) => `system:\n  services: { program: ${systemctl}, names: [${names}] }\n`;
  place.put("config/handrail.yaml", "{}\n");
  const told: string[] = [];
  {
    await using kernel = await createKernel({
      environment: { TOOLS_ARM: "1" },
      stateDirectory: place.state,
      configDirectory: place.config,
      onWarning: (message) => void told.push(message),
    });
    await using sre = await kernel.openSession({ workspace: place.workspace, role: "sre", preset: "open" });
    await using dev = await kernel.openSession({ workspace: place.workspace, preset: "open" });
    const offered = () => kernel.tools().flatMap(({ name }) => (SYSTEM_NAMES.includes(name) ? [name] : []));
    const restart = async (session: typeof sre, service: string) => {
      const { outcome } = (await session.call("system_ctl", { service, action: "restart" })).response;
      return outcome.kind === "denied" ? outcome.denial.ruleId : outcome.kind;
    };
    expect([offered(), await restart(sre, "docker")]).toEqual([[], "SYSTEM:off"]);

    const reloads = () => told.filter((message) => message.includes("system changed")).length;
    writeFileSync(join(place.config, "handrail.yaml"), configure("docker"));
    await until(() => reloads() === 1);
    expect(offered()).toEqual(["system_ctl", "verify_binary"]);
    expect(await restart(sre, "docker")).toBe("success");
    expect(await restart(sre, "podman")).toBe("SCHEMA:system_ctl");
    expect(await restart(dev, "docker")).toBe("RBAC:system_ctl");

    writeFileSync(join(place.config, "handrail.yaml"), configure("podman"));
    await until(() => reloads() === 2);
    expect([await restart(sre, "docker"), await restart(sre, "podman")]).toEqual(["SCHEMA:system_ctl", "success"]);

    writeFileSync(join(place.config, "handrail.yaml"), configure("/etc/x"));
    await until(() => told.some((message) => message.includes("is refused")));
    expect(await restart(sre, "podman")).toBe("success"); // the old one stays in force

    writeFileSync(join(place.config, "handrail.yaml"), "{}\n");
    await until(() => reloads() === 3);
    expect([offered(), await restart(sre, "podman")]).toEqual([[], "SYSTEM:off"]);
  }
  expect(machine.log().match(/docker|podman/g)).toEqual(["docker", "podman", "podman"]);
  const calls = (await readEvidence(place.state)).filter(({ entry }) =>
    /^tool_(selected|executed|execution_denied)$/.test(entry.eventType),
  );
  expect(calls.length).toBe(3 * 2 + 5);
  expect(new Set(calls.map(({ payload }) => payload["severity"]))).toEqual(new Set(["critical"]));
  const tail = await handrail(place, ["audit", "tail", "--since", "1h", "--severity", "critical", "--json"]);
  const lines = tail.stdout.trim().split("\n");
  expect(lines.filter((line) => line.includes('"system_ctl"')).length).toBe(calls.length);
});

test("the doctor says which listed programs could not be started, and nothing where nothing is listed", async () => {
  const machine = machinePlace(onTestFinished);
  const place = freshPlace();
  const found = async (system: string) => {
    place.put("config/handrail.yaml", system);
    const findings = await diagnose({ environment: {}, stateDirectory: place.state, configDirectory: place.config });
    return findings.filter(({ check }) => check === "system tools").map(({ status, detail }) => [status, detail]);
  };
  const binaries = (...programs: readonly string[]) =>
    `system:\n  binaries:\n${programs.map((program, index) => `    b${index}: { program: ${program} }\n`).join("")}`;
  const [good, open] = [machine.program("good", ""), machine.program("open", "", 0o757)];
  expect(await found("{}\n")).toEqual([]);
  expect(await found(binaries(good))).toEqual([["ok", "1 program may run outside of the sandbox, for the role sre"]]);
  expect(await found(binaries(good, open, "/nowhere/x"))).toEqual([
    ["failed", `\`${open}\` can be written by others`],
    ["failed", "`/nowhere/x` is not there"],
  ]);
});
