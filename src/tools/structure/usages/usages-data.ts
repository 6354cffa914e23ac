/** Puts the answer about a name together: where it stands, what it does there, and what was left out. */
import type { JsonObject } from "../../../base/json.ts";
import type { UsageKind } from "../../../model/place/code.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import { TokenBudget } from "../kit/token-budget.ts";
import { boundUsages } from "./bound-usages.ts";
import { type NamedUsage, withoutLocals } from "./named-usage.ts";
import { servedUsages } from "./served-usages.ts";

/** Files that are named as not looked into. */
const NAMED_MAX = 10;
const KINDS = ["definition", "import", "call", "write", "reference"] as const satisfies readonly UsageKind[];

/** What is asked of a name. */
interface UsagesAsked {
  readonly symbol: string;
  readonly path?: string | undefined;
  readonly defined_in?: string | undefined;
  readonly line?: number | undefined;
  readonly kinds?: readonly UsageKind[] | undefined;
  readonly tokens: number;
}

/** The usages of a name, as data. */
export async function usagesData(
  { symbol, path = ".", defined_in: definedIn, line, kinds, tokens }: UsagesAsked,
  { code, search }: ToolContext,
): Promise<JsonObject> {
  const isPlain = /^\w+$/.test(symbol);
  const pattern = isPlain
    ? ({ kind: "regex", text: `\\b${symbol}\\b` } as const)
    : ({ kind: "literal", text: symbol } as const);
  const holding = await search.count(path, { pattern, recursive: true });
  const found = await code.usages(
    path,
    symbol,
    holding.files.map((file) => file.path),
  );
  const home = definedIn === undefined ? undefined : ((await code.list(definedIn, 1)).files[0]?.path ?? definedIn);
  const definedHere = home === undefined ? {} : { definedIn: home };
  const bound = await boundUsages({ code, path, found, symbol, ...definedHere });
  const paths = holding.files.map((file) => file.path);
  // With `defined_in`, what syntax takes for another thing is asked about as well: the server knows.
  const served = await servedUsages({ code, path, symbol, found, bound, holding: paths, line, ...definedHere });
  const { usages, locals } = withoutLocals(served.usages, home === undefined && found.files.length > 1);
  const by = served.servers.length > 0 ? "language-server" : "syntax";
  const fallback = served.unserved.map(
    ({ why, message, server }): JsonObject => ({
      ...(server !== undefined && { server }),
      why,
      message,
    }),
  );
  const wanted = usages.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
  const counts = Object.fromEntries(
    KINDS.map((kind) => [kind, usages.filter((each) => each.kind === kind).length] as const).filter(([, n]) => n > 0),
  );
  const notParsed = found.unknown.slice(0, NAMED_MAX);
  const partly = found.partly.slice(0, NAMED_MAX);
  const budget = new TokenBudget(tokens);
  budget.spend([counts, notParsed, partly, symbol, fallback]);
  const { shown, leftOut } = budget.fit(wanted.map((usage) => usageData(usage, by)));
  const unlooked = found.unread.length + holding.filesMatched - holding.files.length;
  return {
    symbol,
    by,
    ...(served.servers.length > 0 && { servers: [...new Set(served.servers)] }),
    ...(fallback.length > 0 && { fallback }),
    counts,
    usages: [...shown],
    left_out: { usages: leftOut, locals, files: unlooked, others: served.others, hidden: served.hidden },
    not_parsed: notParsed,
    partly_parsed: partly,
    truncated:
      leftOut > 0 || unlooked > 0 || holding.truncated || found.unknown.length > notParsed.length || partly.length > 0,
  };
}

function usageData(
  { path, line, column, kind, binding, text: source, within, definedIn, by }: NamedUsage,
  mostly: NamedUsage["by"],
): JsonObject {
  return {
    path,
    line,
    column,
    kind,
    text: source,
    ...(within !== undefined && { within }),
    ...(definedIn !== undefined && definedIn !== path && { defined_in: definedIn }),
    ...(binding !== "module" && { binding }),
    ...(by !== mostly && by !== undefined && { by }),
  };
}
