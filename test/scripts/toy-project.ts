// A small project around the real launcher and set-up scripts: a lock file without packages, a main file that prints
// its arguments, and a PATH of its own, on which `npm`, `id` and `sudo` are what a test says they are. No network, no
// root.
import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** Programs that the launcher, the set-up and the fakes need from the real machine. */
const REAL_PROGRAMS = [
  "sh",
  "env",
  "find",
  "cmp",
  "flock",
  "mkdir",
  "rmdir",
  "sleep",
  "readlink",
  "unshare",
  "cat",
  "chmod",
];

/** An npm whose `ci` makes an empty node_modules, notes that it ran, and notices when two run at once. */
const FAKE_NPM = `#!/bin/sh
echo "noise on standard output"
mkdir "$TOY_ROOT/npm-running" 2>/dev/null || echo overlap >>"$TOY_ROOT/npm-calls"
echo "$1" >>"$TOY_ROOT/npm-calls"
sleep 0.2
mkdir -p node_modules
echo '{"packages":{}}' >node_modules/.package-lock.json
rmdir "$TOY_ROOT/npm-running"
`;

/** The same, which goes on until another one runs beside it, or for twenty seconds. */
export const LONG_NPM = FAKE_NPM.replace(
  "|| echo overlap >>",
  '|| : >"$TOY_ROOT/overlap"; [ ! -e "$TOY_ROOT/overlap" ] || echo overlap >>',
)
  .replace(
    "sleep 0.2",
    'tries=200; while [ ! -e "$TOY_ROOT/overlap" ] && [ $tries -gt 0 ]; do sleep 0.1; tries=$((tries - 1)); done',
  )
  .replace('rmdir "$TOY_ROOT/npm-running"', 'rmdir "$TOY_ROOT/npm-running" 2>/dev/null || :');

/** What one run of the launcher or the set-up gave. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A project in a temporary directory; `dispose` removes it. */
export interface ToyProject extends Disposable {
  readonly root: string;
  /** Puts a program of the test's own on the project's PATH, in place of any other. */
  program(name: string, script: string): void;
  removeProgram(name: string): void;
  run(file: string, args?: readonly string[], cwd?: string): Promise<Outcome>;
  npmCalls(): readonly string[];
}

/** Makes a project for which nothing has been set up yet. */
export function toyProject(): ToyProject {
  const root = mkdtempSync(join(tmpdir(), "handrail-toy-"));
  const bin = join(root, "bin");
  for (const folder of ["bin", "src/cli", "elsewhere"]) mkdirSync(join(root, folder), { recursive: true });
  for (const part of ["handrail", "scripts"]) cpSync(resolve(part), join(root, part), { recursive: true });
  writeFileSync(join(root, "package.json"), '{"name":"toy","type":"module"}\n');
  writeFileSync(join(root, "package-lock.json"), '{"lockfileVersion":3,"packages":{"":{"name":"toy"}}}\n');
  writeFileSync(
    join(root, "src/cli/main.ts"),
    "const words: string[] = process.argv.slice(2);\nconsole.log(JSON.stringify(words));\n",
  );
  for (const name of REAL_PROGRAMS) symlinkSync(realProgram(name), join(bin, name));
  symlinkSync(process.execPath, join(bin, "node"));
  const program = (name: string, script: string) => {
    rmSync(join(bin, name), { force: true });
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  };
  program("npm", FAKE_NPM);
  for (const name of ["git", "bwrap", "nsenter", "socat", "runc", "newuidmap", "rg"])
    program(name, "#!/bin/sh\nexit 0\n");
  return {
    root,
    program,
    removeProgram: (name) => rmSync(join(bin, name), { force: true }),
    run: (file, args = [], cwd = root) => run(file, args, cwd, { PATH: bin, HOME: root, TOY_ROOT: root }),
    npmCalls: () =>
      existsSync(join(root, "npm-calls")) ? readFileSync(join(root, "npm-calls"), "utf8").trim().split("\n") : [],
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function realProgram(name: string): string {
  const found = (process.env.PATH ?? "").split(":").find((directory) => existsSync(join(directory, name)));
  if (found === undefined) throw new Error(`the set-up tests need \`${name}\` on PATH`);
  return join(found, name);
}

function run(file: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Outcome> {
  return new Promise((settle, reject) => {
    const child = spawn(file, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 120_000 });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString("utf8");
    });
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
    });
    child.on("error", reject);
    child.on("close", (code) => settle({ code, stdout, stderr }));
  });
}
