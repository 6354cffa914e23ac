// The systemd unit starts a command that exists, with a state of its own, and takes away what it can without taking the
// sandbox of commands away.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { shownCommands } from "../../scripts/command-reference.mjs";

/** Settings by name, the last of each; a line that is none would be a fault of the unit. */
function settingsOf(text: string): Readonly<Record<string, string>> {
  const lines = text.split("\n").filter((line) => line !== "" && !/^[#[]/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const [, name, value] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`\`${line}\` is no setting`);
      return [name, value];
    }),
  );
}

const TEXT = readFileSync("deploy/handrail.service", "utf8");
const unit = settingsOf(TEXT);

test("the unit starts a command and options that there are", async () => {
  const [program, command, ...options] = (unit["ExecStart"] ?? "").split(" ");
  const shown = (await shownCommands()).find(({ name }) => name === `handrail ${command}`);
  expect(program).toBe("/usr/local/bin/handrail");
  const flags = shown?.options.map(([names]) => names.split(" ")[0]);
  expect(flags).toEqual(expect.arrayContaining(options));
});

test("what lets agents of other users join starts the same command with options that there are", async () => {
  const { ExecStart } = settingsOf(readFileSync("deploy/handrail-agents.conf", "utf8"));
  const options = (ExecStart ?? "").split(" ").filter((word) => word.startsWith("--"));
  const shown = (await shownCommands()).find(({ name }) => name === "handrail serve");
  expect(ExecStart?.startsWith(`${unit["ExecStart"]} `)).toBe(true);
  expect(shown?.options.map(([names]) => names.split(" ")[0])).toEqual(expect.arrayContaining(options));
});

test("state, cache and user are its own, and what it writes is named", () => {
  expect(unit).toMatchObject({
    User: "handrail",
    StateDirectory: "handrail",
    StateDirectoryMode: "0700",
    CacheDirectoryMode: "0700",
    ProtectSystem: "strict",
    ProtectHome: "yes",
    NoNewPrivileges: "yes",
    CapabilityBoundingSet: "",
    ReadWritePaths: "-/etc/handrail",
    Environment: "HANDRAIL_STATE_HOME=/var/lib/handrail HANDRAIL_CONFIG_HOME=/etc/handrail XDG_CACHE_HOME=/var/cache",
  });
});

test("settings that keep a sandbox from being made are left out, and the unit says why", () => {
  const harmful = ["ProtectKernelTunables", "ProtectKernelLogs", "ProtectProc", "ProcSubset", "ProtectHostname"];
  for (const name of [...harmful, "PrivateUsers", "MemoryDenyWriteExecute", "RestrictSUIDSGID"]) {
    expect(unit[name], name).toBeUndefined();
    expect(TEXT).toContain(`${name}=`);
  }
  expect(unit["SystemCallFilter"]).not.toMatch(/@(mount|process|sandbox|privileged)/);
  expect(unit["RestrictNamespaces"]?.split(" ").sort()).toEqual(["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"]);
});
