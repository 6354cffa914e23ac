/**
 * Knows the language servers: which files each answers for, and how it is started in a sandbox.
 *
 * What a project installed itself comes first, then what the machine has. INVARIANT: nothing here is started outside of
 * a sandbox; whether a program is there is found out inside.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { ChosenLanguageServer } from "../../model/place/language-servers.ts";
import { INSIDE_WORKSPACE, type SandboxFile } from "../plan/plan.ts";

/** The exit code by which a start says that the server is not installed. */
export const NOT_INSTALLED_CODE = 41;
/** Where Handrail's own adapter of TypeScript lies inside. */
const ADAPTER = "/run/language-server/typescript-language-server.mjs";

/** One server. */
export interface ServerKind {
  readonly name: string;
  /** Extensions of files, with their dot, and what the protocol calls their language. */
  readonly languages: Readonly<Record<string, string>>;
  readonly command: readonly [string, ...string[]];
  readonly files?: readonly SandboxFile[];
  /** What the server is told when it begins. */
  readonly options?: (memoryMb: number) => Readonly<Record<string, unknown>>;
  /** Whether a notification says that the project is loaded: before that, its answers are not whole. */
  readonly readyWhen?: (method: string, params: unknown) => boolean;
  /** What to install where it is missing. */
  readonly advice: string;
  /** Asks for diagnostics by TypeScript's own command: the adapter only pushes them. */
  readonly isTypeScript?: true;
}

const SCRIPT = `missing() { exit ${NOT_INSTALLED_CODE}; }
own=${INSIDE_WORKSPACE}/node_modules`;

/** TypeScript 7 speaks the protocol itself; before that an adapter speaks it for the project's own `tsserver`. */
const TYPESCRIPT = `${SCRIPT}
if [ -f "$own/typescript/package.json" ]; then
  major=$(sed -n 's/^ *"version": *"\\([0-9]*\\)\\..*/\\1/p' "$own/typescript/package.json")
  if [ "\${major:-0}" -ge 7 ]; then exec node "$own/typescript/bin/tsc" --lsp --stdio; fi
  if [ -f "$own/typescript/lib/tsserver.js" ]; then exec node "$1" --stdio; fi
fi
command -v typescript-language-server >/dev/null || missing
exec typescript-language-server --stdio`;

/** A program of the project's own packages, else of the machine. */
const OWN_OR_INSTALLED = `${SCRIPT}
if [ -f "$own/.bin/$1" ]; then exec "$own/.bin/$@"; fi
command -v "$1" >/dev/null || missing
exec "$@"`;

function script(text: string, ...words: readonly string[]): readonly [string, ...string[]] {
  return ["/bin/sh", "-c", text, "language-server", ...words];
}

const ECMASCRIPT = {
  ...Object.fromEntries([".ts", ".mts", ".cts"].map((extension) => [extension, "typescript"])),
  ...Object.fromEntries([".js", ".mjs", ".cjs"].map((extension) => [extension, "javascript"])),
  ".tsx": "typescriptreact",
  ".jsx": "javascriptreact",
};

let adapter: string | undefined;

/** The text of the adapter, which is one file; read once. */
function adapterText(): string {
  adapter ??= readFileSync(createRequire(import.meta.url).resolve("typescript-language-server/lib/cli.mjs"), "utf8");
  return adapter;
}

function memberOf(params: unknown, name: string): string {
  return String((params as Readonly<Record<string, unknown>> | null | undefined)?.[name]);
}

const BUILT_IN: readonly ServerKind[] = [
  {
    name: "typescript",
    languages: ECMASCRIPT,
    command: script(TYPESCRIPT, ADAPTER),
    get files() {
      return [{ target: ADAPTER, text: adapterText() }];
    },
    options: (memoryMb) => ({
      disableAutomaticTypingAcquisition: true,
      maxTsServerMemory: Math.floor(memoryMb * 0.75),
      tsserver: { useSyntaxServer: "never" },
      preferences: { providePrefixAndSuffixTextForRename: true, allowRenameOfImportPath: false },
    }),
    advice: "install `typescript` as a development dependency of the project",
    isTypeScript: true,
  },
  {
    name: "pyright",
    languages: { ".py": "python", ".pyi": "python" },
    command: script(OWN_OR_INSTALLED, "pyright-langserver", "--stdio"),
    readyWhen: (method, params) =>
      method === "window/logMessage" && /^(?:Found \d+|No) source files?\b/.test(memberOf(params, "message")),
    advice: "install `pyright` as a development dependency, or where `sandbox.toolchains` names it",
  },
  {
    name: "gopls",
    languages: { ".go": "go" },
    command: script(OWN_OR_INSTALLED, "gopls", "serve"),
    // it can be asked from 0.17 on, and not unless it is told so
    options: () => ({ pullDiagnostics: true }),
    advice: "ask the operator to install `gopls` where `sandbox.toolchains` names it",
  },
  {
    name: "rust-analyzer",
    languages: { ".rs": "rust" },
    command: script(OWN_OR_INSTALLED, "rust-analyzer"),
    readyWhen: (method, params) => method === "experimental/serverStatus" && memberOf(params, "quiescent") === "true",
    advice: "ask the operator to install `rust-analyzer` where `sandbox.toolchains` names it",
  },
];

/** The server for the file at `path`; the operator's come before those that are known. */
export function serverKindOf(path: string, chosen: readonly ChosenLanguageServer[]): ServerKind | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const extension = name.slice(name.lastIndexOf("."));
  const own = chosen.find(({ extensions }) => Object.hasOwn(extensions, extension));
  if (own === undefined) return BUILT_IN.find(({ languages }) => Object.hasOwn(languages, extension));
  const [program = "false", ...rest] = own.command;
  return {
    name: own.name,
    languages: own.extensions,
    command: [program, ...rest],
    advice: "ask the operator to look at `language_servers.servers` in handrail.yaml",
  };
}

/** What the protocol calls the language of the file at `path`. */
export function languageIdOf({ languages }: ServerKind, path: string): string {
  return languages[path.slice(path.lastIndexOf("."))] ?? "plaintext";
}
