/**
 * Outlines code: which lines declare which names, as a tree.
 *
 * It runs in the program that holds the parsers. INVARIANT: depth, nodes and lengths of an outline are bounded,
 * whatever the code is.
 */
import type { SgNode } from "@ast-grep/napi";
import type { OutlineNode } from "./outline-messages.ts";

/** Levels below the root. */
const DEPTH_MAX = 10;
/** Levels of a node of one line that are looked at: `export const x` has its name two below. */
const SHORT_DEPTH_MAX = 2;
/** Nodes of one outline. */
const NODES_MAX = 20_000;
/** Characters of a name. */
const NAME_CHARACTERS_MAX = 128;
/** Steps from a declaration of C to the name in it. */
const DECLARATOR_STEPS_MAX = 6;
/** Lines of a function up to which nothing is looked for within it. */
const BODY_LINES_MAX = 60;

const DECLARES = /(?:declaration|definition|declarator|_item|_spec|signature|specifier|alias)$/;
const DECLARES_EXACTLY = new Set(["class", "module", "method", "singleton_method", "public_field_definition"]);
const FUNCTION =
  /^(?:function|method|arrow_function|generator_function|lambda|closure|singleton_method|constructor|func_literal)/;
const IDENTIFIER = /identifier$|^constant$|^word$|^name$/;

/** The outline of what is below `root`. */
export function outlineOf(root: SgNode): OutlineNode {
  const room = { nodes: NODES_MAX };
  const { firstLine, lastLine } = linesOf(root);
  return { firstLine, lastLine, isComment: false, children: childrenOf(root, { depth: 0, isBody: false, room }) };
}

interface Around {
  readonly depth: number;
  /** It lies in a function, where only functions and types are declarations. */
  readonly isBody: boolean;
  readonly room: { nodes: number };
}

function childrenOf(node: SgNode, { depth, isBody, room }: Around): readonly OutlineNode[] {
  if (depth >= DEPTH_MAX) return [];
  const outlined: OutlineNode[] = [];
  for (const child of node.children()) {
    if (!child.isNamed()) continue;
    room.nodes -= 1;
    if (room.nodes < 0) break;
    const kind = String(child.kind());
    const { firstLine, lastLine } = linesOf(child);
    if (kind.includes("comment")) {
      outlined.push({ firstLine, lastLine, isComment: true, children: [] });
      continue;
    }
    const isFunction = FUNCTION.test(kind);
    const name = isBody && !isFunction && !kind.startsWith("class") ? undefined : declaredName(child, kind);
    const isShort = lastLine === firstLine;
    const isLeft = (isFunction && lastLine - firstLine < BODY_LINES_MAX) || (isShort && depth >= SHORT_DEPTH_MAX);
    const around = { depth: depth + 1, isBody: isBody || isFunction, room };
    const children = isLeft ? [] : childrenOf(child, around);
    // What spans one line and names nothing cuts nothing; directly below the root it still ends a comment.
    if (isShort && depth > 0 && name === undefined && children.length === 0) continue;
    outlined.push({ firstLine, lastLine, isComment: false, ...(name !== undefined && { name }), children });
  }
  return outlined;
}

function linesOf(node: SgNode): { readonly firstLine: number; readonly lastLine: number } {
  const { start, end } = node.range();
  // A node that ends with a line's end ends in that line.
  const last = end.column === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { firstLine: start.line + 1, lastLine: last + 1 };
}

function declaredName(node: SgNode, kind: string): string | undefined {
  if (kind === "assignment_expression") return shortName(node.field("left")?.field("property"));
  if (kind === "impl_item") return shortName(node.field("type"));
  if (!DECLARES.test(kind) && !DECLARES_EXACTLY.has(kind)) return undefined;
  const named = node.field("name");
  if (named !== null) return shortName(named);
  let at = node.field("declarator");
  for (let step = 0; at !== null && step < DECLARATOR_STEPS_MAX; step += 1) {
    if (IDENTIFIER.test(String(at.kind()))) return shortName(at);
    at = at.field("declarator");
  }
  return undefined;
}

function shortName(node: SgNode | null | undefined): string | undefined {
  const text = node?.text();
  return text !== undefined && text.length <= NAME_CHARACTERS_MAX && !text.includes("\n") ? text : undefined;
}
