/** A kernel whose system tools work on doubles, and the session of an sre. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SystemSettings } from "../../src/model/work/system.ts";
import { systemTools } from "../../src/tools/system/system-tools.ts";
import { type MachinePlace, machineConfigs, machinePlace, RECORDER, systemSettingsOf } from "./machine-place.ts";
import { type MemoryKernel, type MemoryKernelOptions, memoryKernel } from "./memory-kernel.ts";

/** A configuration file of the version 1. */
export const FILE_V1 = `# the gateway\nschema: { version: 1 }\nlisten:\n  port: 80 # as ever\n`;

/** A kernel with its machine. */
export interface SystemKernel extends MemoryKernel {
  readonly place: MachinePlace;
  readonly system: SystemSettings;
}

/** Everything listed, by programs that write down what they are called with. */
export function listedDoubles(place: MachinePlace): SystemSettings {
  const program = (name: string) => place.program(name, `echo "${name}" >>$LOG; ${RECORDER}`);
  const manager = { sudo: true, scripts: false, timeoutMs: 10_000 };
  return systemSettingsOf({
    path: [join(place.base, "bin")],
    packages: {
      apt: { ...manager, program: program("apt-get") },
      cargo: { ...manager, sudo: false, root: "/opt/tools", program: program("cargo") },
      "npm-g": { ...manager, program: program("npm") },
    },
    services: { program: program("systemctl"), sudo: true, names: ["docker", "app@1.service"] },
    binaries: {
      pg_dump: {
        program: place.program("pg_dump", 'echo "pg_dump (PostgreSQL) 15.6 (Debian)"; touch $LOG.ran'),
        sudo: false,
        version: ["-V"],
      },
    },
    configFiles: machineConfigs().configFiles,
  });
}

/** Opens the kernel; by default armed, in the preset that asks nothing, with a session of the role `sre`. */
export async function systemKernel(options: MemoryKernelOptions = {}): Promise<SystemKernel> {
  const place = machinePlace(onTestFinished);
  const system = options.system ?? listedDoubles(place);
  const session = { role: "sre", ...options.session };
  const given = { preset: "open", settings: { armed: true }, ...options, session, system, tools: systemTools(system) };
  return { ...(await memoryKernel(given)), place, system };
}

/** Writes a file of the workspace. */
export function putFile(kernel: MemoryKernel, path: string, text: string): void {
  writeFileSync(join(kernel.root, path), text);
}
