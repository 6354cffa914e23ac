/** Reads from a syntax tree which module an import names, and which names stand for whole modules. */
import type { SgNode } from "@ast-grep/napi";

/** Imports of one file that are looked at. */
const IMPORTS_MAX = 500;

/** The modules of a file by the names under which its code has them. */
export function namespaceImports(root: SgNode, language: string): ReadonlyMap<string, string> {
  return new Map(read(root, language));
}

function read(root: SgNode, language: string): readonly (readonly [string, string])[] {
  switch (language) {
    case "typescript":
    case "tsx":
    case "javascript":
      return each(root, "namespace_import", (node) => {
        const source = node
          .ancestors()
          .find((above) => String(above.kind()) === "import_statement")
          ?.field("source");
        const name = node.children().find((child) => String(child.kind()) === "identifier");
        return source && name ? [[name.text(), unquoted(source.text())]] : [];
      });
    case "python":
      return [
        ...each(root, "import_statement", (node) =>
          node.fieldChildren("name").map((name) => {
            const alias = name.field("alias");
            const module = (alias ? name.field("name")?.text() : name.text()) ?? "";
            return [alias?.text() ?? module, module] as const;
          }),
        ),
        ...each(root, "import_from_statement", (node) => {
          const module = node.field("module_name")?.text() ?? "";
          return node.fieldChildren("name").map((name) => {
            const own = name.field("alias") ? (name.field("name")?.text() ?? "") : name.text();
            return [name.field("alias")?.text() ?? own, `${module}${module.endsWith(".") ? "" : "."}${own}`] as const;
          });
        }),
      ];
    case "go":
      return each(root, "import_spec", (node) => {
        const path = unquoted(node.field("path")?.text() ?? "");
        const name =
          node.field("name")?.text() ??
          path
            .replace(/\/v\d{1,3}$/, "")
            .split("/")
            .at(-1) ??
          "";
        return [[name, path]];
      });
    default:
      return [];
  }
}

function each(
  root: SgNode,
  kind: string,
  take: (node: SgNode) => readonly (readonly [string, string])[],
): readonly (readonly [string, string])[] {
  return root.findAll({ rule: { kind } }).slice(0, IMPORTS_MAX).flatMap(take);
}

/** What the import or re-export names as its module, as it is written. */
export function specifierOf(node: SgNode, chain: readonly SgNode[], importing: SgNode): string | undefined {
  switch (String(importing.kind())) {
    case "import_statement":
    case "export_statement": {
      const source = importing.field("source");
      return source ? unquoted(source.text()) : undefined;
    }
    case "import_from_statement":
      return importing.field("module_name")?.text();
    case "use_declaration":
      return rustPath(node, chain);
    case "import_declaration":
      return chain.find((above) => String(above.kind()) === "scoped_identifier")?.text();
    default:
      return undefined;
  }
}

/** The path before the name, over nested lists. */
function rustPath(node: SgNode, chain: readonly SgNode[]): string | undefined {
  const parts: string[] = [];
  let inside = node;
  for (const above of chain) {
    const path = above.field("path");
    if (path && path.id() !== inside.id()) parts.unshift(path.text());
    inside = above;
  }
  return parts.length === 0 ? undefined : parts.join("::");
}

function unquoted(text: string): string {
  return text.replace(/^["'`]|["'`]$/g, "");
}
