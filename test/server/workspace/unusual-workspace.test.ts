// Which directories are refused as workspaces: the machine, homes, what belongs to the system; a project never is.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  homeDirectories,
  requireUsualWorkspace,
  unusualWorkspace,
} from "../../../src/server/workspace/unusual-workspace.ts";

const HOMES = ["/root", "/home/u", "/var/www", "/srv/data/git"];

test.each([
  ...[
    "/",
    "/root",
    "/home",
    "/home/u",
    "/var/www",
    "/srv/data/git",
    "/srv/data",
    "/etc",
    "/etc/nginx",
    "/usr",
    "/usr/local/src/x",
  ],
  ...[
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/lib32/x",
    "/libx32",
    "/boot",
    "/dev",
    "/dev/shm/x",
    "/proc/self",
    "/sys",
    "/run/user/1000",
    "/snap/x",
    "/var/spool/cron/crontabs",
  ],
  ...[
    "/opt",
    "/srv",
    "/tmp",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/var/lib/dpkg",
    "/var/lib/dpkg/info",
    "/var/cache/apt",
    "/var/log",
    "/mnt",
    "/media",
  ],
])("`%s` is refused", (directory) => {
  expect(unusualWorkspace(directory, HOMES)).toBeDefined();
});

test.each([".ssh", ".ssh/keys", ".gnupg", ".aws", ".kube", ".docker", ".config", ".config/gh", ".local/bin", ".cargo"])(
  "`~/%s` is refused, in every home; a project that bears the name elsewhere is not",
  (name) => {
    for (const home of HOMES)
      expect(unusualWorkspace(`${home}/${name}`, [...HOMES, "/"])).toMatch(/open other services/);
    expect(unusualWorkspace(`/srv/orders/${name}`, [...HOMES, "/"], true)).toBeUndefined();
    expect(unusualWorkspace(`${HOMES[1]}/project/${name}`, HOMES, true)).toBeUndefined();
  },
);

test("worktrees in a home's hidden directories are taken", () => {
  for (const name of [".local/share/worktrees/a", ".cache/a", ".sshd", ".configs", "go/src/a", "binary"])
    expect(unusualWorkspace(`/home/u/${name}`, HOMES), name).toBeUndefined();
  for (const name of [".cursor/worktrees/a", "project/.claude/worktrees/a", ".github"])
    expect(unusualWorkspace(`/home/u/${name}`, HOMES, true), name).toBeUndefined();
});

test.each([".local", ".local/share", ".local/state", "go", "bin", ".vim", ".nvm/versions", ".local/share/nvim/site"])(
  "`~/%s` is refused: programs are run or obeyed from there",
  (name) => {
    expect(unusualWorkspace(`/home/u/${name}`, HOMES)).toMatch(/programs keep|obeyed by/);
    expect(unusualWorkspace(`/srv/${name}`, HOMES, true)).toBeUndefined();
  },
);

test.each([
  [".git/hooks", true],
  ["sub/.git", true],
  [".vscode", false],
  [".github/workflows", false],
  [".husky", false],
  [".claude", false],
  [".config/mise", false],
])(
  "`%s` of a project is refused: its files have no names of their own by which they are known",
  (name, isRepository) => {
    expect(unusualWorkspace(`/srv/orders/${name}`, HOMES, isRepository)).toMatch(/^it lies in /);
    expect(unusualWorkspace(`/srv/orders/${name.replaceAll(".", "_")}`, HOMES, isRepository)).toBeUndefined();
  },
);

test("the root of the machine is refused for itself, whatever homes there are, as a project root too", () => {
  expect(unusualWorkspace("/", [])).toBeDefined();
  expect(() => requireUsualWorkspace("/", { HOME: "/home/u" }, true)).toThrow(/root of the whole machine/);
  // The control: another directory above homes is a project root.
  expect(() => requireUsualWorkspace("/workspace", { HOME: "/workspace/u" }, true)).not.toThrow();
});

test.each([
  ...[
    "/home/u/project",
    `${HOMES[0]}/project`,
    "/srv/orders",
    "/opt/orders",
    "/tmp/orders",
    "/var/www/site",
    "/var/lib/ci/workspace/orders",
  ],
  ...["/workspace", "/home/v", "/etcetera", "/library", "/usrs", "/data"],
])("`%s` is taken", (directory) => {
  expect(unusualWorkspace(directory, HOMES)).toBeUndefined();
});

test("homes are those of the machine's list and of whoever runs this, by their real paths", () => {
  const place = realpathSync(mkdtempSync(join(tmpdir(), "handrail-homes-")));
  try {
    for (const name of ["ada", "own"]) mkdirSync(join(place, name));
    symlinkSync(join(place, "ada"), join(place, "link"));
    writeFileSync(join(place, "passwd"), `ada:x:1:1::${place}/link:/bin/sh\nodd\nrelative:x:2:2::home:/bin/sh\n`);
    const homes = homeDirectories({ HOME: join(place, "own") }, join(place, "passwd"));
    expect(homes).toEqual(expect.arrayContaining([join(place, "ada"), join(place, "own"), "/root"]));
    expect(homes).not.toContain("home");
    expect(homeDirectories({}, join(place, "none"))).toContain("/root");
    expect(() => homeDirectories({}, place)).toThrow(/cannot be read/);
    expect(() => requireUsualWorkspace(join(place, "own"), { HOME: join(place, "own") })).toThrow(
      /home directory.*--allow-unusual-workspace/,
    );
    expect(() => requireUsualWorkspace(place, { HOME: join(place, "own") })).toThrow(/holds the home directory/);
    expect(() => requireUsualWorkspace(place, { HOME: join(place, "own") }, true)).not.toThrow();
    expect(() => requireUsualWorkspace(join(place, "own"), { HOME: join(place, "own") }, true)).toThrow(
      /home directory/,
    );
    expect(() => requireUsualWorkspace(join(place, "ada"), { HOME: join(place, "own") })).not.toThrow();
  } finally {
    rmSync(place, { recursive: true });
  }
});
