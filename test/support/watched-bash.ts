/**
 * A bash that runs nothing: no program is found, and each one that it looks for is written down with its arguments.
 * What bash makes of a text is seen without anything happening.
 */
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";

/** A program that bash looked for, with its arguments. */
export type Wanted = readonly [name: string, ...args: string[]];

/** Milliseconds after which a text that does not end is given up; what it wanted until then counts. */
const GIVE_UP_MS = 20_000;
/** An account without rights, for the case that the tests run as root. */
const NOBODY = 61_234;

/** What bash wants to run for `text`, where every program succeeds or every program fails. */
export function wantedBy(text: string, status: 0 | 1): Promise<readonly Wanted[]> {
  const directory = mkdtempSync(join(tmpdir(), "handrail-bash-"));
  chmodSync(directory, 0o555);
  const nobody = getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const handler = `() { builtin printf '%s\\0' "$#" "$@" >&3; return ${status}; }`;
  const child = spawn("/bin/bash", ["--norc", "--noprofile", "-c", text], {
    ...nobody,
    cwd: directory,
    env: { PATH: "/nonexistent", LANG: "C.UTF-8", "BASH_FUNC_command_not_found_handle%%": handler },
    stdio: ["ignore", "ignore", "ignore", "pipe"],
    detached: true,
  });
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const endAll = () => {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
    };
    const timer = setTimeout(endAll, GIVE_UP_MS);
    child.stdio[3]?.on("data", (piece: Buffer) => pieces.push(piece));
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      rmdirSync(directory);
      resolve(parseWanted(Buffer.concat(pieces).toString("utf8").split("\0")));
    });
  });
}

function parseWanted(fields: readonly string[]): readonly Wanted[] {
  const wanted: Wanted[] = [];
  for (let at = 0; at < fields.length - 1; ) {
    const count = Number(fields[at]);
    const [name, ...args] = fields.slice(at + 1, at + 1 + count);
    if (name === undefined || args.length !== count - 1) break; // the last one was cut off
    wanted.push([name, ...args]);
    at += 1 + count;
  }
  return wanted;
}
