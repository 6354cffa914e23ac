/**
 * A machine made of doubles: small programs in a directory of the test, which stand for package managers, systemctl and
 * sudo. Nothing of the real machine is touched.
 */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SystemSettings } from "../../src/model/work/system.ts";

/** A directory with doubles. */
export interface MachinePlace {
  readonly base: string;
  /** Makes a program; `$LOG` of its text is a file that the test can read. */
  readonly program: (name: string, text: string, mode?: number) => string;
  /** What programs wrote to `$LOG`. */
  readonly log: () => string;
}

/** Made for the running test. */
export function machinePlace(onTestFinished: (end: () => void) => void): MachinePlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "handrail-machine-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  chmodSync(base, 0o755);
  const bin = join(base, "bin");
  mkdirSync(bin);
  chmodSync(bin, 0o755);
  const log = join(base, "log");
  return {
    base,
    program(name, text, mode = 0o755) {
      const path = join(bin, name);
      writeFileSync(path, `#!/bin/sh\n${text.replaceAll("$LOG", log)}\n`);
      chmodSync(path, mode);
      return path;
    },
    log() {
      try {
        return readFileSync(log, "utf8");
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
        throw error;
      }
    },
  };
}

/** Writes its arguments down, one to a line. */
export const RECORDER = 'printf "%s\\n" "$@" >>$LOG';

/** Settings that list nothing, and what is given. */
export function systemSettingsOf(given: Partial<SystemSettings>): SystemSettings {
  return { path: [], packages: {}, binaries: {}, configFiles: {}, ...given };
}

/** One listed configuration file, `config/gateway.yaml`, with a way from its version 1 to 3. */
export function machineConfigs(): SystemSettings {
  return systemSettingsOf({
    configFiles: {
      gateway: {
        path: "config/gateway.yaml",
        version: ["schema", "version"],
        migrations: [
          { from: 1, to: 2, steps: [{ kind: "rename", from: ["listen", "port"], to: ["http", "port"] }] },
          { from: 2, to: 3, steps: [{ kind: "default", member: ["http", "timeout"], value: 30 }] },
        ],
      },
    },
  });
}
