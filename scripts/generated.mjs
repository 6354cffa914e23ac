// Checks that src/gen is what `npx buf generate` makes of proto/: nobody edited it, nobody forgot to regenerate it. It
// writes into a directory of its own and leaves the sources alone.
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";

const directory = mkdtempSync(join(tmpdir(), "handrail-generated-"));
try {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["node_modules/@bufbuild/buf/bin/buf", "generate", "--output", directory],
    {
      encoding: "utf8",
      timeout: 120_000,
      env: { ...process.env, PATH: `${resolve("node_modules/.bin")}${delimiter}${process.env.PATH ?? ""}` },
    },
  );
  if (status !== 0) throw new Error(`buf generate failed:\n${stderr}`);
  const made = listing(join(directory, "src/gen"));
  const kept = listing("src/gen");
  if (made.length === 0) throw new Error("buf generate made nothing; see buf.gen.yaml");
  const differing = [...new Set([...made, ...kept])].filter(
    (file) => text(join(directory, "src/gen", file)) !== text(join("src/gen", file)),
  );
  for (const file of differing) console.error(`not as generated: \`src/gen/${file}\`; run: npx buf generate`);
  process.exitCode = differing.length > 0 ? 1 : 0;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** @param {string} folder */
function listing(folder) {
  return globSync("**/*.ts", { cwd: folder });
}

/** @param {string} path */
function text(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
