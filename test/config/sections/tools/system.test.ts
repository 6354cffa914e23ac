// The section `system`: absent without a word, absolute programs, services and files named one by one.
import { expect, test } from "vitest";
import { parseSettings } from "../../../../src/config/config.ts";
import { type ParsedSystemSettings, systemOf } from "../../../../src/config/sections/tools/system.ts";

const CONFIG = "config_files: { app: { path: a.yaml, version: v.n, migrations: [{ from: 1, to: 2 }] } }";
const parsed = async (yaml: string) =>
  (await parseSettings(`system:\n  ${yaml.replaceAll("\n", "\n  ")}\n`, "handrail.yaml"))
    .system as ParsedSystemSettings;

test("nothing is said where nothing stands, and nothing is listed where the section is empty", async () => {
  expect((await parseSettings("", "handrail.yaml")).system).toBeUndefined();
  expect(systemOf(await parsed("{}"))).toEqual({
    path: ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
    packages: {},
    binaries: {},
    configFiles: {},
  });
});

test("what is listed has safe defaults", async () => {
  const yaml = [
    "sudo: /usr/bin/sudo",
    "packages: { apt: { program: /usr/bin/apt-get }, cargo: { program: /opt/cargo, root: /opt }, npm-g: { program: /usr/bin/npm, timeout_seconds: 60 } }",
    "services: { names: [docker] }",
    "binaries: { pg_dump: { program: /usr/bin/pg_dump } }",
    "config_files: { app: { path: c/a.json, version: v.n, migrations: [{ from: 1, to: 2, steps: [{ rename: { from: a, to: b.c } }, { set: { member: d, value: [1] } }] }] } }",
  ].join("\n");
  expect(systemOf(await parsed(yaml))).toMatchObject({
    sudo: "/usr/bin/sudo",
    packages: {
      apt: { program: "/usr/bin/apt-get", sudo: true, scripts: false, timeoutMs: 1_800_000 },
      cargo: { program: "/opt/cargo", sudo: false, root: "/opt" },
      "npm-g": { program: "/usr/bin/npm", sudo: true, scripts: false, timeoutMs: 60_000 },
    },
    services: { program: "/usr/bin/systemctl", sudo: true, names: ["docker"] },
    binaries: { pg_dump: { program: "/usr/bin/pg_dump", sudo: false, version: ["--version"] } },
    configFiles: {
      app: {
        path: "c/a.json",
        version: ["v", "n"],
        migrations: [
          {
            from: 1,
            to: 2,
            steps: [
              { kind: "rename", from: ["a"], to: ["b", "c"] },
              { kind: "set", member: ["d"], value: [1] },
            ],
          },
        ],
      },
    },
  });
});

test.each([
  ["a program that is looked up", "packages: { apt: { program: apt-get } }"],
  ["a program behind `..`", "packages: { apt: { program: /usr/bin/../x } }"],
  ["a manager of projects", "packages: { pip: { program: /usr/bin/pip } }"],
  ["an unknown key", "packages: { apt: { program: /usr/bin/apt-get, shell: true } }"],
  ["no service", "services: { names: [] }"],
  ["a service that is a path", "services: { names: [/etc/x.service] }"],
  ["a service that is an option", "services: { names: [--all] }"],
  ["a service that is a pattern", 'services: { names: ["*"] }'],
  ["a binary whose name is a path", "binaries: { a/b: { program: /usr/bin/b } }"],
  ["a binary whose name is an option", "binaries: { -b: { program: /usr/bin/b } }"],
  ["sudo that is looked up", "sudo: sudo"],
  ["a configuration file elsewhere", CONFIG.replace("a.yaml", "/etc/a.yaml")],
  ["a configuration file above", CONFIG.replace("a.yaml", "../a.yaml")],
  ["a file of an unknown kind", CONFIG.replace("a.yaml", "a.toml")],
  ["a version nowhere", CONFIG.replace("v.n", "v..n")],
  ["a member of every object", CONFIG.replace("v.n", "__proto__.n")],
  ["two ways on from one version", CONFIG.replace("{ from: 1, to: 2 }", '{ from: 1, to: 2 }, { from: "1", to: 3 }')],
  [
    "a step that is two",
    CONFIG.replace("to: 2", "to: 2, steps: [{ remove: { member: a }, set: { member: a, value: 1 } }]"),
  ],
])("%s is refused", async (_what, yaml) => {
  expect(await parsed(CONFIG)).toBeDefined(); // the control
  await expect(parsed(yaml)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
