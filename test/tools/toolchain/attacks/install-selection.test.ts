/**
 * What managers see of a workspace while they install. Stand-ins for cargo and poetry look where the real ones look for
 * configuration and environments, and say what they found; each of them finds the attacker's files where it runs
 * without the defence.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ApprovalManager, createKernel } from "../../../../src/index.ts";
import { Internet } from "../../../support/egress.ts";
import { freshPlace } from "../../../support/place.ts";

/** cargo reads these in the directory in which it begins, in all above it, and in its home. */
const CARGO = `#!/bin/sh
directory=$PWD
while :; do
  for name in .cargo/config.toml .cargo/config rust-toolchain rust-toolchain.toml; do
    test -e "\${directory%/}/$name" && echo "obeys $name"
  done
  test "$directory" = / && break
  directory=$(dirname "$directory")
done
for name in config.toml config credentials.toml; do test -e "$CARGO_HOME/$name" && echo "obeys home $name"; done
test -d "$CARGO_HOME/registry" && touch "$CARGO_HOME/registry/fetched" && echo filled
touch /workspace/made 2>/dev/null && echo "wrote the workspace"
cat /workspace/Cargo.lock >/dev/null && echo locked
exit 0
`;

/** poetry reads its own configuration and the environment of the project, and builds what is in it. */
const POETRY = `#!/bin/sh
for name in poetry.toml .venv/bin/python setup.py build.py .poetry/plugins; do test -e "$name" && echo "obeys $name"; done
cat pyproject.toml
cat poetry.lock
rmdir .venv 2>&1 | grep -o busy
mkdir .venv/bin && echo filled
env | grep -E "^(POETRY|PIP)_" | sort
exit 0
`;

const HASH = `sha256:${"0".repeat(64)}`;
const WHEEL = `{file = "six-1.0.0-py3-none-any.whl", hash = "${HASH}"}`;

async function opened(backend: string) {
  const place = freshPlace();
  const internet = new Internet();
  onTestFinished(() => internet.close());
  for (const [name, text] of [
    ["cargo", CARGO],
    ["poetry", POETRY],
  ] as const)
    chmodSync(place.put(`tools/bin/${name}`, text), 0o755);
  for (const directory of ["", "tools", "tools/bin"]) chmodSync(join(place.base, directory), 0o755);
  const toolchains = [join(place.base, "tools")];
  place.put(
    "config/handrail.yaml",
    JSON.stringify({ sandbox: { backend, toolchains }, workspaces: [{ path: place.workspace }] }),
  );
  const approvals = new ApprovalManager();
  approvals.setHandler({ request: async () => true });
  const where = { environment: {}, stateDirectory: place.state, configDirectory: place.config };
  const kernel = await createKernel({ ...where, approvals, network: internet.network });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  const install = async (manager: string) => (await session.call("install_dependencies", { manager })).result;
  /** What the stand-in says where nothing is between it and the workspace. */
  const alone = (manager: string) =>
    execFileSync(join(place.base, "tools/bin", manager), {
      cwd: place.workspace,
      env: { PATH: process.env["PATH"], CARGO_HOME: join(place.workspace, "target/cargo-home") },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  return { place, install, alone };
}

test.each(["bwrap", "container"])(
  "%s: cargo begins where no configuration of the workspace is, and fills its registry alone",
  async (backend) => {
    const { place, install, alone } = await opened(backend);
    place.put("workspace/Cargo.toml", '[package]\nname = "x"\n');
    place.put("workspace/Cargo.lock", 'version = 4\n\n[[package]]\nname = "x"\nversion = "0.1.0"\n');
    place.put("workspace/.cargo/config.toml", '[build]\nrustc-wrapper = "/workspace/evil.sh"\n');
    place.put("workspace/rust-toolchain.toml", '[toolchain]\npath = "/workspace/evil"\n');
    place.put(
      "workspace/target/cargo-home/config.toml",
      '[registry]\nglobal-credential-providers = ["/workspace/evil.sh"]\n',
    );
    const said = alone("cargo").split("\n");
    expect(said).toEqual(
      expect.arrayContaining(["obeys .cargo/config.toml", "obeys rust-toolchain.toml", "obeys home config.toml"]),
    );
    // The second time the registry is there, and the session has seen what was downloaded.
    for (let times = 0; times < 2; times += 1) {
      expect(await install("cargo")).toMatchObject({
        status: "success",
        data: { exit_code: 0, stdout: "filled\nlocked" },
      });
    }
    const at = (path: string) => existsSync(join(place.workspace, path));
    expect([at("target/cargo-home/registry/fetched"), at("made")]).toEqual([true, false]);
  },
);

test.each(["bwrap", "container"])(
  "%s: poetry sees a manifest and wheels, and fills a new environment",
  async (backend) => {
    const { place, install, alone } = await opened(backend);
    const plugins =
      '[tool.poetry.requires-plugins]\nevil = "*"\n[tool.poetry.build]\nscript = "build.py"\n[build-system]\nrequires = ["evil"]\n';
    place.put(
      "workspace/pyproject.toml",
      `[tool.poetry]\nname = "x"\nversion = "1"\n[tool.poetry.dependencies]\nsix = "1.0.0"\n${plugins}`,
    );
    const sdist = `{file = "six-1.0.0.tar.gz", hash = "${HASH}"}`;
    place.put(
      "workspace/poetry.lock",
      `[[package]]\nname = "six"\nversion = "1.0.0"\nfiles = [\n  ${WHEEL},\n  ${sdist},\n]\n[metadata]\nlock-version = "2.1"\n`,
    );
    place.put("workspace/poetry.toml", "[virtualenvs]\ncreate = false\n");
    place.put("workspace/setup.py", "");
    place.put("workspace/build.py", "");
    place.put("workspace/.venv/bin/python", "#!/bin/sh\n");
    expect(alone("poetry")).toMatch(/obeys poetry.toml\nobeys .venv\/bin\/python\nobeys setup.py\nobeys build.py\n/);
    expect(await install("poetry")).toMatchObject({
      error: { code: "NOT_SUPPORTED", message: expect.stringContaining("`.venv` is there already") },
    });
    execFileSync("rm", ["-r", join(place.workspace, ".venv")]);
    mkdirSync(join(place.workspace, ".venv"));
    const result = await install("poetry");
    expect(result).toMatchObject({ status: "success", data: { exit_code: 0 } });
    const { stdout } = (result as unknown as { readonly data: { readonly stdout: string } }).data;
    expect(stdout).not.toMatch(/obeys|evil|build|tar\.gz/);
    expect(stdout).toContain("six-1.0.0-py3-none-any.whl");
    expect(stdout).toMatch(/busy\nfilled\nPIP_CONFIG_FILE=\/dev\/null\nPOETRY_INSTALLER_ONLY_BINARY=:all:\n/);
    expect(existsSync(join(place.workspace, ".venv/bin"))).toBe(true);
  },
);
