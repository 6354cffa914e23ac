// What is loaded before the first `tools/list` is answered, and what is not: a start takes as long as loading does.
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startHandrail, until } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** What comes with the first call that needs it, or right after the list: files and folders of `src/`, and packages. */
const LATE = [
  /^src\/(gen\/|redact\/(?!search\/marker\.ts))/,
  /^src\/sandbox\/(bwrap|container|control-groups|host|identity|matching|net|plan|run|search)\//,
  /^src\/sandbox\/sandbox\.ts$/,
  /^src\/server\/(operator\/redaction|policy\/policy-(advice|check|examples|replay|test)|doctor\/doctor|admin\/admin-port|doors\/library)\.ts$/,
  /^src\/tools\/shell\/reading\/(command-reader|parse-command|wrappers)\.ts$/,
  /^src\/transports\/(connect|framed)\//,
  /^src\/transports\/mcp\/library\.ts$/,
  /^node_modules\/(@ast-grep|@bufbuild|@cedar-policy|@connectrpc|@modelcontextprotocol|ajv|ignore|rregex|unbash|yaml)\//,
];
/**
 * Modules of `src/` at the first list: some 30 more than there are, so that a growing start is decided on and does not
 * happen.
 */
const OWN_MODULES_MAX = 600;

/** Writes down each module that is loaded, by its address. */
const TRACE = `data:text/javascript,${encodeURIComponent(`
  import { appendFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  registerHooks({ load(url, context, next) {
    appendFileSync(process.env.HANDRAIL_TEST_TRACE, url + "\\n");
    return next(url, context);
  } });
`)}`;

test("the first list is answered before what it does not need is loaded, and that comes right after it", async () => {
  const place = freshPlace();
  const trace = join(place.base, "trace");
  const environment = { HANDRAIL_TEST_TRACE: trace, NODE_OPTIONS: `--import ${TRACE}` };
  const child = startHandrail(place, ["mcp", "--workspace", place.workspace], {
    environment,
    fromSources: true,
  });
  const lines = createInterface({ input: child.stdout });
  const ask = async (id: number, method: string, params: object) => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const [line] = (await once(lines, "line")) as [string];
    return JSON.parse(line) as { readonly id: number; readonly result: { readonly tools?: readonly unknown[] } };
  };
  const loaded = () =>
    readFileSync(trace, "utf8")
      .split("\n")
      .filter((url) => url.startsWith("file:"))
      .map((url) => fileURLToPath(url).replace(/^.*\/node_modules\//, "node_modules/"))
      .map((path) => (path.startsWith(ROOT) ? path.slice(ROOT.length) : path));
  const isLate = (path: string) => LATE.some((late) => late.test(path));

  await ask(1, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "t", version: "1" },
  });
  expect(existsSync(trace)).toBe(true);
  const early = loaded();
  expect(early.filter(isLate)).toEqual([]);
  expect(new Set(early.filter((path) => path.startsWith("src/"))).size).toBeLessThan(OWN_MODULES_MAX);
  expect(early).toContain("src/kernel/pipeline.ts"); // the trace sees

  const listed = await ask(2, "tools/list", {});
  expect(listed.result.tools?.length).toBeGreaterThan(5);
  await until(
    () => loaded().includes("src/server/operator/redaction.ts") && loaded().some((path) => path.includes("cedar")),
  );
  expect(
    loaded()
      .slice(early.length)
      .filter((path) => !isLate(path)),
  ).toEqual([]);
  child.stdin.end();
  await once(child, "exit");
});
