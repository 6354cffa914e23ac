/** Servers whose package is installed as they are added: they run from it, and nothing of a failed one is left. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { UpstreamWish } from "../../../../src/server/upstream/upstream-desk.ts";
import { npmRegistry } from "../../../support/npm-registry.ts";
import { freshPlace } from "../../../support/place.ts";
import { DOUBLE } from "../../../support/upstream-double.ts";
import { described, upstreamPlace, wishFor } from "../../../support/upstream-place.ts";

const TIMEOUT = { timeout: 180_000 };
const INSIDE = "/mnt/package/node_modules/@notes/server";
const MANIFEST = { bin: { server: "dist/index.mjs" } };

/** A place, and a registry whose package is the double. */
async function packaged(behaviour: object) {
  const place = freshPlace();
  const files = {
    "dist/index.mjs": `#!/usr/bin/env node\n${DOUBLE}`,
    "behaviour.json": JSON.stringify(behaviour),
  };
  const { hash, environment } = await npmRegistry(place, { manifest: MANIFEST, files });
  const opened = await upstreamPlace("preset: open\n", { place });
  const npm = { spec: "@notes/server", environment };
  const wish = { ...wishFor([], { environment: { BEHAVIOUR: `${INSIDE}/behaviour.json` } }), npm };
  return { opened, wish, hash, packages: join(place.state, "upstream-packages") };
}

test("a server runs from its package, which it cannot write, and which goes with it", TIMEOUT, async () => {
  const { opened, wish, hash, packages } = await packaged({ tools: [described("say")], answer: "from the package" });
  await opened.bring("notes", wish);
  const desk = await opened.kernel.upstream();
  expect(desk.list()).toMatchObject([
    {
      name: "notes",
      command: [`${INSIDE}/dist/index.mjs`],
      package: { name: "@notes/server", version: "1.2.3", integrity: hash },
      approvedTools: 1,
    },
  ]);
  expect(await opened.call("mcp.notes.say", { text: "x" })).toMatchObject({
    kind: "success",
    data: { text: "from the package" },
  });
  await desk.remove("notes", "ann");
  expect(existsSync(join(packages, "notes"))).toBe(false);
});

test("of a server that cannot be shown nothing is kept, and it can be added again", TIMEOUT, async () => {
  const { opened, wish, packages } = await packaged({ dieAtStart: true, tools: [] });
  const desk = await opened.kernel.upstream();
  await expect(desk.add("notes", wish)).rejects.toThrow("no licence");
  await expect(desk.add("notes", { ...wish, read: ["/nowhere"] })).rejects.toThrow("is no directory");
  expect(desk.list()).toEqual([]);
  expect(readdirSync(packages)).toEqual([]);
});

test(
  "programs that fetch others, and files that the server would not find, are refused with what to write",
  TIMEOUT,
  async () => {
    const opened = await upstreamPlace();
    const desk = await opened.kernel.upstream();
    const script = opened.put("outside/tool/server.js", "");
    const outside = join(opened.outside, "tool");
    for (const [command, more, why] of [
      [["npx", "-y", "@notes/server"], {}, "write `--npm @notes/server`"],
      [["/usr/bin/npx"], {}, "write `--npm PACKAGE`"],
      [["uvx", "notes"], {}, "with `--read`"],
      [["docker", "run", "notes"], {}, "with `--read`"],
      [["node", script], {}, `say \`--read ${outside}\` and write \`/mnt/tool/server.js\``],
      [["node", script], { read: [outside] }, "at `/mnt/tool/server.js`: write that"],
      [["node", script], { directory: outside }, "at `/workspace/server.js`: write that"],
    ] satisfies (readonly [readonly string[], Partial<UpstreamWish>, string])[])
      await expect(desk.add("notes", wishFor(command, more)), command.join(" ")).rejects.toThrow(why);
    expect(desk.list()).toEqual([]);
  },
);
