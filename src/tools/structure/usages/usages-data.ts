/** Puts the answer about a name together: where it stands, what it does there, and what was left out. */
import type { JsonObject } from "../../../base/json.ts";
import type { UsageKind } from "../../../model/place/code.ts";
import type { ToolContext } from "../../../model/tool/tool.ts";
import { TokenBudget } from "../kit/token-budget.ts";
import { boundUsages } from "./bound-usages.ts";
import { type NamedUsage, withoutLocals } from "./named-usage.ts";

/** Files that are named as not looked into. */
const NAMED_MAX = 10;
const KINDS = ["definition", "import", "call", "write", "reference"] as const satisfies readonly UsageKind[];

/** What is asked of a name. */
interface UsagesAsked {
  readonly symbol: string;
  readonly path?: string | undefined;
  readonly defined_in?: string | undefined;
  readonly kinds?: readonly UsageKind[] | undefined;
  readonly tokens: number;
}

/** The usages of a name, as data. */
export async function usagesData(
  { symbol, path = ".", defined_in: definedIn, kinds, tokens }: UsagesAsked,
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
  const bound = await boundUsages({ code, path, found, symbol, ...(home !== undefined && { definedIn: home }) });
  const { usages, locals } = withoutLocals(bound, home === undefined && found.files.length > 1);
  const wanted = usages.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
  const counts = Object.fromEntries(
    KINDS.map((kind) => [kind, usages.filter((each) => each.kind === kind).length] as const).filter(([, n]) => n > 0),
  );
  const notParsed = found.unknown.slice(0, NAMED_MAX);
  const partly = found.partly.slice(0, NAMED_MAX);
  const budget = new TokenBudget(tokens);
  budget.spend([counts, notParsed, partly, symbol]);
  const { shown, leftOut } = budget.fit(wanted.map(usageData));
  const unlooked = found.unread.length + holding.filesMatched - holding.files.length;
  return {
    symbol,
    way: "syntax",
    counts,
    usages: [...shown],
    left_out: { usages: leftOut, locals, files: unlooked },
    not_parsed: notParsed,
    partly_parsed: partly,
    truncated:
      leftOut > 0 || unlooked > 0 || holding.truncated || found.unknown.length > notParsed.length || partly.length > 0,
  };
}

function usageData({ path, line, column, kind, binding, text: source, within, definedIn }: NamedUsage): JsonObject {
  return {
    path,
    line,
    column,
    kind,
    text: source,
    ...(within !== undefined && { within }),
    ...(definedIn !== undefined && definedIn !== path && { defined_in: definedIn }),
    ...(binding !== "module" && { binding }),
  };
}
