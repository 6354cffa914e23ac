/** The arguments of `shell`, and what a call of it is said to touch. */
import { beforeAll, describe, expect, test } from "vitest";
import { MAX_ARG_LEN, MAX_COMMAND_LEN, MAX_REPEATED_ITEMS, MAX_TIMEOUT_MS } from "../../../src/base/limits.ts";
import type { Access } from "../../../src/model/place/access.ts";
import { commandOf } from "../../../src/model/place/command.ts";
import { shell } from "../../../src/tools/shell/shell.ts";
import { parameters } from "../../../src/tools/shell/shell-arguments.ts";

beforeAll(() => shell.prepare?.());

const problems = (args: unknown) =>
  parameters.safeParse(args).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message.split(";")[0]}`) ??
  [];

describe("arguments", () => {
  test("a command is enough, and everything may be said", () => {
    expect(problems({ command: "ls" })).toEqual([]);
    expect(
      problems({ command: "ls", cwd: "web", timeout_ms: 0, network_access: false, env: ["CI=1", "EMPTY="] }),
    ).toEqual([]);
  });

  test.each([
    ["an empty command", { command: "" }],
    ["blanks alone", { command: " \n" }],
    ["a null byte", { command: "ls\0" }],
    ["half a character", { command: "ls \ud800" }],
    ["an unknown argument", { command: "ls", sudo: true }],
    ["a negative time", { command: "ls", timeout_ms: -1 }],
    ["a variable without a value", { command: "ls", env: ["A"] }],
    ["a variable with two signs", { command: "ls", env: ["A=b=c"] }],
    ["a variable without a name", { command: "ls", env: ["=b"] }],
    ["a function for bash", { command: "ls", env: ["BASH_FUNC_ls%%=() { x; }"] }],
  ])("refused: %s", (_, args) => {
    expect(problems(args)).toHaveLength(1);
  });

  test("limits hold at n and n + 1 (INV-0016, INV-0018, INV-0019, INV-0020)", () => {
    const many = (count: number) => ({ command: "ls", env: Array.from({ length: count }, (_, at) => `A${at}=b`) });
    const long = (bytes: number) => ({ command: "ls", env: [`A=${"b".repeat(bytes - 2)}`] });
    const command = (bytes: number) => ({ command: "x".repeat(bytes) });
    const time = (timeout_ms: number) => ({ command: "ls", timeout_ms });
    expect(
      [many(MAX_REPEATED_ITEMS), long(MAX_ARG_LEN), command(MAX_COMMAND_LEN), time(MAX_TIMEOUT_MS)].flatMap(problems),
    ).toEqual([]);
    expect(
      [many(MAX_REPEATED_ITEMS + 1), long(MAX_ARG_LEN + 1), command(MAX_COMMAND_LEN + 1), time(MAX_TIMEOUT_MS + 1)].map(
        (args) => problems(args).length,
      ),
    ).toEqual([1, 1, 1, 1]);
  });

  test.each([
    "LD_PRELOAD",
    "ld_library_path",
    "NODE_OPTIONS",
    "GIT_DIR",
    "GIT_SSH_COMMAND",
    "BASH_ENV",
    "ENV",
    "PATH",
    "Path",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "PERL5LIB",
    "PERL5OPT",
    "RUBYOPT",
    "IFS",
    "PS4",
    "SHELLOPTS",
    "PROMPT_COMMAND",
    "HTTP_PROXY",
    "HOME",
    "npm_config_registry",
    "MAKEFLAGS",
    "HANDRAIL_X",
  ])("the variable %s is refused, in a call and in a command", (name) => {
    expect(problems({ command: "ls", env: [`${name}=x`] })).toEqual([
      expect.stringContaining("env.0: names a variable"),
    ]);
    const dangers = shell
      .analyse({ command: `${name}=x ls` })
      .flatMap(({ resource }) => (resource.kind === "command" ? resource.dangers : []));
    expect(dangers).toEqual(["environment"]);
  });

  test.each(["CI", "NODE_ENV", "DEBUG", "LANG", "TZ", "RUST_BACKTRACE", "FORCE_COLOR", "MY_PATH", "PATHS"])(
    "the variable %s is not",
    (name) => {
      expect(problems({ command: "ls", env: [`${name}=x`] })).toEqual([]);
    },
  );
});

describe("analysis", () => {
  const exec = (shellText: string, resource: Access["resource"]): Access => ({ resource, effect: "exec", shellText });
  const file = (path: string, effect: "read" | "write"): Access => ({ resource: { kind: "file", path }, effect });
  const reach = (host: string, port: number): Access => ({ resource: { kind: "host", host, port }, effect: "network" });

  test("names programs, then the directory, then the files of redirections", () => {
    expect(shell.analyse({ command: "npm test > out.txt", cwd: "web" })).toEqual([
      exec("npm test > out.txt", commandOf(["npm", "test"], { characters: [">"] })),
      file("web", "read"),
      file("web/out.txt", "write"),
    ]);
  });

  test("a line without a program is a command all the same", () => {
    expect(shell.analyse({ command: "x=1" })).toEqual([exec("x=1", commandOf(["true"]))]);
    expect(shell.analyse({ command: "> f" })).toEqual([exec("> f", commandOf(["true"])), file("f", "write")]);
    expect(shell.analyse({ command: "# nothing" })).toEqual([exec("# nothing", commandOf(["true"]))]);
  });

  test("hosts are those that the command names, once the call asks for the network", () => {
    const command =
      "curl https://Example.com/x http://example.com:8080 'https://u:p@api.example.com' https://$h/y $(echo https://other.example)";
    expect(shell.analyse({ command }).filter(({ effect }) => effect === "network")).toEqual([]);
    expect(shell.analyse({ command, network_access: true }).filter(({ effect }) => effect === "network")).toEqual([
      reach("other.example", 443),
      reach("example.com", 443),
      reach("example.com", 8080),
      reach("api.example.com", 443),
    ]);
  });

  test("a call that asks for the network without naming a host asks for it as a tool", () => {
    expect(shell.analyse({ command: "npm ci", network_access: true })).toEqual([
      exec("npm ci", commandOf(["npm", "ci"])),
      { resource: { kind: "tool", name: "shell" }, effect: "network" },
    ]);
  });

  test("a connection of bash is a host, asked for or not", () => {
    expect(shell.analyse({ command: "echo x > /dev/tcp/10.0.0.1/80" }).at(-1)).toEqual(reach("10.0.0.1", 80));
  });
});
