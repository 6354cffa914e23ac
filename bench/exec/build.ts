/** A build of a real package in a view, beside the same build outside: this project's sources, by its own compiler. */
import { execFile } from "node:child_process";
import { cpSync, globSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { interleave, type Row } from "../measure.ts";
import type { Playground } from "../playground.ts";
import { ViewPlace } from "./view-place.ts";

const run = promisify(execFile);
const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const COMPILER = join(ROOT, "node_modules/typescript/lib");
/** Every file is written as JavaScript; types are taken away without a look at packages, which are not there. */
const SETTINGS = {
  compilerOptions: {
    target: "es2024",
    module: "nodenext",
    rewriteRelativeImportExtensions: true,
    noCheck: true,
    rootDir: "src",
    outDir: "dist",
    types: [],
  },
  include: ["src"],
};
const BUILD = "rm -rf dist && node compiler/tsc.js -p .";

/** The figure. @param part the folder of the sources that is built; all of them when it is empty */
export async function measureBuild(playground: Playground, rounds: number, part = ""): Promise<Row> {
  using view = new ViewPlace(playground, "branch-build", 0);
  const outside = playground.directory("branch-build-outside");
  for (const place of [view.root, outside]) makePackage(place, part);
  if (process.geteuid?.() === 0) await run("chown", ["-R", "--reference", view.root, view.root]);
  const timed = async (work: () => Promise<unknown>): Promise<number> => {
    const startedMs = performance.now();
    await work();
    return performance.now() - startedMs;
  };
  const files = globSync("src/**/*.ts", { cwd: outside }).length;
  const inside = () => timed(() => view.times(`${BUILD} && echo done`));
  const peer = () =>
    timed(() =>
      run("bash", ["-c", BUILD], { cwd: outside, env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` } }),
    );
  await inside();
  await peer();
  return await interleave(
    {
      id: "branch-build",
      what: `a build of ${files} files in a view, until its output has landed`,
      peer: "the same build outside",
      unit: "ms",
      better: "lower",
    },
    rounds,
    inside,
    peer,
  );
}

function makePackage(place: string, part: string): void {
  cpSync(join(ROOT, "src", part), join(place, "src", part), { recursive: true });
  mkdirSync(join(place, "compiler"));
  for (const name of readdirSync(COMPILER).filter((one) => /^(?:_?tsc\.js|lib\..*\.ts|lib\.d\.ts)$/.test(one)))
    cpSync(join(COMPILER, name), join(place, "compiler", name));
  writeFileSync(join(place, "compiler/package.json"), "{}");
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  writeFileSync(join(place, "tsconfig.json"), JSON.stringify(SETTINGS));
}
