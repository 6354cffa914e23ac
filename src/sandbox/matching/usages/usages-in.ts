/**
 * Finds what a name is used for in one syntax tree: definitions, imports, calls, writes and references, with scopes.
 *
 * It runs in the program that matches code. Names are bound as far as the tree shows: to a declaration of a function or
 * block, to the module, or to an object that nobody knows the type of.
 */
import type { SgNode } from "@ast-grep/napi";
import type { FoundUsage, UsageKind } from "./found-usage.ts";
import { namespaceImports, specifierOf } from "./import-syntax.ts";
import {
  BLOCKS,
  BODIES,
  CALLS,
  DECLARATIONS,
  FUNCTIONS,
  IMPORTS,
  KEYS,
  MEMBERS,
  MODULES,
  PATTERNS,
  type Reach,
  WRITES,
} from "./usage-syntax.ts";

/** Occurrences in one file that are looked at. */
const USAGES_MAX = 5000;
/** Nodes above one that are looked at: deeper trees are made to be deep. */
const DEPTH_MAX = 300;
const NAME_KIND = /(?:^|_)identifier(?:_pattern)?$|^constant$|^name$/;
const NO_NAME = /^statement_identifier$|^label/;

/** The usages of `symbol` in a file, in their order. */
export function usagesIn(root: SgNode, language: string, symbol: string): readonly FoundUsage[] {
  let imports: ReadonlyMap<string, string> | undefined;
  const tree: Tree = {
    language,
    moduleOf(name) {
      imports ??= namespaceImports(root, language);
      return imports.get(name);
    },
  };
  const own = occurrences(root, symbol).map((node) => occurrence(node, tree));
  const aliases = new Map<string, FoundUsage>();
  for (const { node, usage, chain } of own) {
    const alias = usage.kind === "import" ? aliasOf(node, chain) : undefined;
    if (alias !== undefined && alias !== symbol) aliases.set(alias, usage);
  }
  const found = resolved(own, root, language).filter(({ isAlias }) => isAlias !== true);
  for (const [alias, { from }] of aliases) {
    const renamed = occurrences(root, alias).map((node) => occurrence(node, tree));
    for (const usage of resolved(renamed, root, language)) {
      if (usage.binding === "module" && usage.kind !== "import")
        found.push({ ...usage, ...(from !== undefined && { from }) });
    }
  }
  return found
    .sort((one, two) => one.start - two.start)
    .slice(0, USAGES_MAX)
    .map(({ isAlias: _, ...usage }) => usage);
}

function occurrences(root: SgNode, name: string): readonly SgNode[] {
  const regex = `^${name.replaceAll(/[$\\^.*+?()[\]{}|]/g, "\\$&")}$`;
  const found = root.findAll({ rule: { regex } }).filter((node) => {
    const kind = String(node.kind());
    return node.isLeaf() && NAME_KIND.test(kind) && !NO_NAME.test(kind);
  });
  return found.slice(0, USAGES_MAX);
}

type Usage = FoundUsage & { readonly isAlias?: boolean };

interface Occurrence {
  readonly node: SgNode;
  /** Parents, innermost first. */
  readonly chain: readonly SgNode[];
  readonly usage: Usage;
  /** Of what declares: the scope in which it holds; the file itself when absent. */
  readonly scope?: SgNode | undefined;
  readonly declares: boolean;
}

/** What is known of the file. */
interface Tree {
  readonly language: string;
  /** The module that a name stands for, where the file imports one by it. */
  readonly moduleOf: (name: string) => string | undefined;
}

function occurrence(node: SgNode, { language, moduleOf }: Tree): Occurrence {
  const chain = node.ancestors().slice(0, DEPTH_MAX);
  const { start, end } = node.range();
  const within = namesAround(chain, node);
  const place = { start: start.index, end: end.index, ...(within !== "" && { within }) };
  const of = (kind: UsageKind, binding: FoundUsage["binding"], from?: string): Usage => ({
    ...place,
    kind,
    binding,
    ...(from !== undefined && { from }),
  });
  const importing = chain.find((each) => IMPORTS.has(kindOf(each)) || isExportFrom(each));
  if (importing) {
    const isAlias = chain[0]?.field("alias")?.id() === node.id() && chain[0]?.field("name")?.id() !== node.id();
    const usage = { ...of("import", "module", specifierOf(node, chain, importing)), isAlias };
    return { node, chain, usage, declares: !isExportFrom(importing) };
  }
  const declaration = declarationOf(node, chain);
  if (declaration) {
    const [at, reach] = declaration;
    const { scope, binding } = scopeOf(chain, { at, reach, language });
    return { node, chain, usage: of("definition", binding), scope, declares: binding !== "member" };
  }
  const [parent] = chain;
  const kind = usageKind(node, chain);
  const names = parent && MEMBERS[kindOf(parent)];
  const object =
    names && isField(parent, names[0], node) ? (parent.field(names[1]) ?? parent.field("argument")) : undefined;
  if (object) {
    const path = object.text();
    const from = language === "rust" && parent && kindOf(parent).startsWith("scoped") ? path : moduleOf(path);
    return { node, chain, usage: of(kind, from === undefined ? "member" : "module", from), declares: false };
  }
  const isKey = parent !== undefined && isField(parent, KEYS[kindOf(parent)], node);
  const isProperty = /^(?:property|field|private_property)_identifier$/.test(kindOf(node));
  const isOwnCall = parent !== undefined && kindOf(parent) === "method_invocation" && isField(parent, "name", node);
  return { node, chain, usage: of(kind, isKey || isProperty || isOwnCall ? "member" : "module"), declares: false };
}

function kindOf(node: SgNode): string {
  return String(node.kind());
}

function isField(parent: SgNode, field: string | undefined, node: SgNode): boolean {
  if (field === undefined || field === "") return false;
  if (field === "*") return true;
  if (field.includes(" ")) return field.split(" ").some((each) => isField(parent, each, node));
  return parent.fieldChildren(field).some((each) => each.id() === node.id());
}

function isExportFrom(node: SgNode): boolean {
  return kindOf(node) === "export_statement" && node.field("source") !== null;
}

/** The alias under which an import makes a name known. */
function aliasOf(node: SgNode, [parent, above]: readonly SgNode[]): string | undefined {
  for (const each of [parent, above]) {
    const alias = each?.field("alias");
    if (alias && alias.id() !== node.id()) return alias.text();
  }
  return undefined;
}

/** Where in the chain the declaration of a declared name stands, and its reach. */
function declarationOf(node: SgNode, chain: readonly SgNode[]): readonly [at: number, reach: Reach] | undefined {
  let inside = node;
  for (const [at, each] of chain.entries()) {
    const kind = kindOf(each);
    const declared = Object.hasOwn(DECLARATIONS, kind) ? DECLARATIONS[kind] : undefined;
    if (declared && isField(each, declared[0], inside)) return [at, reachOf(each, declared[1])];
    if (kind === "for_in_statement" && isField(each, "left", inside) && each.field("kind") !== null)
      return [at, "self"];
    const except = Object.hasOwn(PATTERNS, kind) ? PATTERNS[kind] : undefined;
    if (except === undefined || isField(each, except, inside)) return undefined;
    inside = each;
  }
  return undefined;
}

/** Methods of Go and Java, and functions in bodies, are members; Java's fields, too. */
function reachOf(declaration: SgNode, reach: Reach): Reach {
  if (kindOf(declaration) !== "variable_declarator") return reach;
  return declaration.parent()?.kind() === "field_declaration" ? "member" : reach;
}

interface Declared {
  readonly at: number;
  readonly reach: Reach;
  readonly language: string;
}

function scopeOf(
  chain: readonly SgNode[],
  { at, reach, language }: Declared,
): { readonly scope?: SgNode; readonly binding: FoundUsage["binding"] } {
  const declaration = chain[at];
  if (declaration === undefined || reach === "member") return { binding: "member" };
  const kind = kindOf(declaration);
  if (kind === "method_declaration") return { binding: "member" };
  if (reach === "self") return { scope: declaration, binding: "local" };
  const isVar = kind === "variable_declarator" && chain[at + 1]?.kind() === "variable_declaration";
  const isOfFunction = kind === "function_declarator";
  const own = isOfFunction ? chain.findIndex((each, index) => index > at && FUNCTIONS.has(kindOf(each))) : -1;
  // In C a function's name stands within what declares it, which is no scope of the name.
  const from = own !== -1 ? own + 1 : reach === "inner" && (FUNCTIONS.has(kind) || BLOCKS.has(kind)) ? at : at + 1;
  for (const [index, each] of chain.entries()) {
    if (index < from) continue;
    const above = kindOf(each);
    const parent = chain[index + 1];
    if (above === "class_definition" || BODIES.has(above)) return { binding: "member" };
    // Rust's bodies of implementations and traits.
    if (above === "declaration_list" && parent && BODIES.has(kindOf(parent))) return { binding: "member" };
    if (FUNCTIONS.has(above)) return { scope: each, binding: "local" };
    if (isVar || language === "python" || !BLOCKS.has(above)) continue;
    if (parent && MODULES.has(kindOf(parent))) return { scope: each, binding: "module" };
    return { scope: each, binding: "local" };
  }
  return { binding: "module" };
}

/** What an occurrence that declares nothing does. */
function usageKind(node: SgNode, chain: readonly SgNode[]): UsageKind {
  let inside = node;
  for (const each of chain.slice(0, 6)) {
    const kind = kindOf(each);
    if (isField(each, CALLS[kind], inside)) return "call";
    if (isField(each, WRITES[kind], inside)) return "write";
    if (kind === "decorator") return "call";
    const names = MEMBERS[kind];
    const goesOn =
      (names && isField(each, names[0], inside)) ||
      (Object.hasOwn(PATTERNS, kind) && !isField(each, PATTERNS[kind], inside)) ||
      ["generic_function", "generic_type", "non_null_expression", "shorthand_property_identifier_pattern"].includes(
        kind,
      );
    if (!goesOn) return "reference";
    inside = each;
  }
  return "reference";
}

/** Names of the functions and types around, outermost first, such as `Cart.add`. */
function namesAround(chain: readonly SgNode[], node: SgNode): string {
  const names: string[] = [];
  for (const each of chain) {
    const kind = kindOf(each);
    const isFunction =
      kind === "variable_declarator" && /function|lambda/.test(String(each.field("value")?.kind() ?? ""));
    if (!isFunction && !/^(?:abstract_)?(?:function|method|class|interface|impl|trait|generator|mod)_/.test(kind))
      continue;
    const name = each.field("name") ?? (kind === "impl_item" ? each.field("type") : null);
    if (name && name.id() !== node.id()) names.unshift(name.text().slice(0, 100));
    if (names.length >= 2) break;
  }
  return names.join(".");
}

/** Languages in which a local name holds from its declaration on. */
const SEQUENTIAL: ReadonlySet<string> = new Set(["go", "rust", "java", "c", "cpp", "csharp"]);

/** Binds names to declarations of the file: the innermost whose scope holds them. */
function resolved(found: readonly Occurrence[], root: SgNode, language: string): Usage[] {
  const isSequential = SEQUENTIAL.has(language);
  const declarations = found.filter(({ declares }) => declares);
  const rootId = root.id();
  return found.map(({ node, usage, chain, declares }) => {
    if (usage.binding === "member" || usage.kind === "import") return usage;
    if (declares) return usage.binding === "local" ? refined(usage, node, declarations) : usage;
    const holders = new Set(chain.map((each) => each.id()));
    let best: Occurrence | undefined;
    for (const declaration of declarations) {
      const id = declaration.scope?.id() ?? rootId;
      if (id !== rootId && !holders.has(id)) continue;
      // What comes before it means another one of that name.
      if (id !== rootId && isSequential && usage.start < declaration.usage.start) continue;
      if (best === undefined || depthOf(declaration) > depthOf(best)) best = declaration;
    }
    if (best === undefined || usage.from !== undefined) return usage;
    const from = best.usage.kind === "import" ? best.usage.from : undefined;
    const binding = best.usage.binding === "local" ? ("local" as const) : ("module" as const);
    const isOwn = best.usage.kind === "definition" && binding === "module";
    return { ...usage, binding, ...(from !== undefined && { from }), ...(isOwn && { isOwn: true as const }) };
  });
}

/** A second assignment of a local name writes it. */
function refined(usage: Usage, node: SgNode, declarations: readonly Occurrence[]): Usage {
  const parent = node.parent();
  if (parent === null || kindOf(parent) !== "assignment") return usage;
  const first = declarations.find(({ scope }) => scope !== undefined && isInside(node, scope));
  return first === undefined || first.usage.start === usage.start ? usage : { ...usage, kind: "write" };
}

function isInside(node: SgNode, scope: SgNode): boolean {
  const [inner, outer] = [node.range(), scope.range()];
  return outer.start.index <= inner.start.index && inner.end.index <= outer.end.index;
}

function depthOf({ scope }: Occurrence): number {
  return scope === undefined ? -1 : scope.range().start.index;
}
