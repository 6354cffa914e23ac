// The import table of the house, enforced: which folder of src/ may know which. It decides nothing at run time; a fault
// here fails `npm run check`. The table and its exceptions are explained in docs/decisions/boundaries.md.
//
// INVARIANT: a folder that is not listed may not exist; nothing is allowed by being forgotten.
const STAGE = "wire|validate|config|session|policy|approval|flow|budget|dedupe|sandbox|redact|cas|ledger|knowledge";
const PORT = "^src/(?:session|approval|flow|budget|dedupe|cas|ledger|knowledge|sandbox)/[a-z/-]+-store\\.ts$";
const AUTHORITY =
  "^(node:)?(child_process|fs|fs/promises|net|tls|http|https|http2|dgram|dns|dns/promises|worker_threads|cluster|vm|inspector|inspector/promises|os|process|repl|sqlite|wasi|v8)$";

/** The one classifier of hosts and addresses. */
const ADDRESS_CLASSES = "^src/names/address-class\\.ts$";

/** What everybody may know: it speaks of no call. */
const FLOOR = ["base", "names", "text"];

/** Folder (or alternatives that share a row): the folders that it may import besides itself. */
const MAY = {
  base: [],
  gen: [],
  "names|text": ["base"],
  model: FLOOR,
  "wire|validate": [...FLOOR, "model", "gen"],
  "config|session|policy|approval|flow|budget|dedupe|sandbox|redact|cas|ledger|knowledge": [...FLOOR, "model"],
  kernel: [...FLOOR, "model", STAGE],
  tools: [...FLOOR, "model"],
  stores: [...FLOOR, "model", PORT],
  transports: [...FLOOR, "model", "gen", "wire", "kernel"],
  server: [...FLOOR, "model", "kernel", STAGE, "tools", "stores", "transports"],
  cli: [...FLOOR, "model", "server"],
};

/**
 * The order within a folder, lowest first: a sub-folder may import those before it. "." are the files of the folder
 * itself. Folders that stand here have no other sub-folders.
 */
export const ORDER = {
  approval: ["decisions", "requests", "."],
  cli: ["terminal", "start", "approvals", "commands", "."],
  config: ["sections", "files", "."],
  "config/sections": [".", "tools"],
  kernel: [
    "declared",
    "redaction",
    "keeping",
    "call",
    "observe",
    "judge",
    "dialect",
    "answer",
    "repositories",
    "ask",
    "handles",
    ".",
  ],
  "kernel/answer": ["documents", "."],
  "kernel/ask": ["approval-text", "."],
  "kernel/judge": [".", "content", "imagined"],
  ledger: [".", "audit"],
  model: ["outcome", "place", "people", "spending", "work", "reach", "tool", "approval"],
  policy: ["terms", "compile", "evaluate", "."],
  redact: ["expressions", "search", "kinds", "views", "rules", "."],
  sandbox: [
    "native",
    "ports",
    "plan",
    "mirror",
    "control-groups",
    "keeping",
    "files",
    "search",
    "matching",
    "git",
    "net",
    "wasm",
    "host",
    "layers",
    "identity",
    "run",
    "host-commands",
    "landing",
    "copies",
    "branches",
    "views",
    "scratch",
    "undo",
    "language",
    "bwrap",
    "container",
    "none",
    ".",
  ],
  "sandbox/files": ["places", "."],
  "sandbox/matching": ["usages", "."],
  "sandbox/landing": ["machine", ".", "recovery"],
  "sandbox/net": ["gate", "broker", "fetch", "models", "proxy", "."],
  "sandbox/search": ["pattern", "tree", "."],
  server: [
    "operator",
    "clients",
    "plugins",
    "reload",
    "secrets",
    "ledger",
    "artifacts",
    "network",
    "workspace",
    "knowledge",
    "imports",
    "branches",
    "upstream",
    "policy",
    "components",
    "people",
    "telemetry",
    ".",
    "metrics",
    "admin",
    "doors",
    "doctor",
  ],
  "server/upstream": ["records", "talk", "packages", "reach", "."],
  "stores/embedded": ["state", "approvals", "budgets", "content", "knowledge", "ledger", "sessions", "."],
  "tools/git": ["calls", "operations", "."],
  "tools/shell": ["words", "gadgets", "reading", "."],
  "tools/shell/gadgets": ["rows", "."],
  "tools/structure": ["kit", "status", "imports", "map", "tests", "usages", "."],
  "transports/connect": ["wire", "methods", "."],
  "transports/mcp": ["protocol", "answers", "lines", "approval", "features", "asking", "tasks", ".", "http", "relay"],
};

/** Files of a sub-folder, or of the folder itself. */
const filesOf = (folder, sub) => (sub === "." ? `^src/${folder}/[^/]+$` : `^src/${folder}/${sub}/`);

const orders = Object.entries(ORDER).flatMap(([folder, subs]) => [
  ...subs.slice(0, -1).map((sub, index) => ({
    name: `order:${folder}/${sub}`,
    severity: "error",
    from: { path: filesOf(folder, sub) },
    to: { path: subs.slice(index + 1).map((above) => filesOf(folder, above)) },
  })),
  ...["from", "to"].map((end) => ({
    name: `unlisted-sub-folder:${folder}`,
    severity: "error",
    from: {},
    to: {},
    [end]: {
      path: `^src/${folder}/[^/]+/`,
      pathNot: subs.filter((sub) => sub !== ".").map((sub) => filesOf(folder, sub)),
    },
  })),
]);

const LISTED = [`^src/(${Object.keys(MAY).join("|")})/`, "^src/index\\.ts$"];

const layers = Object.entries(MAY).map(([from, to]) => ({
  name: `layer:${from}`,
  severity: "error",
  from: { path: `^src/(${from})/` },
  to: { path: "^src/", pathNot: ["^src/$1/", ...to.map((folder) => (folder === PORT ? PORT : `^src/(?:${folder})/`))] },
}));

export default {
  forbidden: [
    ...layers,
    ...orders,
    // Three rules, because a rule speaks of an import: a file of an unlisted folder that is imported, that imports, or
    // neither.
    { name: "unlisted-folder", severity: "error", from: {}, to: { path: "^src/", pathNot: LISTED } },
    { name: "unlisted-folder-imports", severity: "error", from: { path: "^src/", pathNot: LISTED }, to: {} },
    {
      name: "unlisted-folder-alone",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: LISTED },
      to: {},
    },
    {
      name: "ports-are-types",
      comment: "a store knows a port's shape, never its code",
      severity: "error",
      from: { path: "^src/stores/" },
      to: { path: PORT, dependencyTypesNot: ["type-only"] },
    },
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "plugins-are-islands",
      comment: "no tool, store or transport imports its sibling; what tools share is their kit",
      severity: "error",
      from: { path: "^src/(tools|stores|transports)/([^/]+)/" },
      to: { path: "^src/$1/", pathNot: ["^src/$1/$2/", "^src/tools/kit/"] },
    },
    {
      name: "kernel-by-its-door",
      severity: "error",
      from: { pathNot: ["^src/kernel/", "^test/"] },
      to: { path: "^src/kernel/", pathNot: "^src/kernel/index\\.ts$" },
    },
    {
      name: "ambient-authority",
      comment: "files, processes and networks are reached through handles; only these folders open them",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(sandbox|stores|transports|server|cli)/", ADDRESS_CLASSES] },
      to: { dependencyTypes: ["core"], path: AUTHORITY },
    },
    {
      name: "address-lists",
      comment:
        "the classifier of addresses may use the lists of `node:net`, which open nothing; a test holds that it imports no more",
      severity: "error",
      from: { path: ADDRESS_CLASSES },
      to: { dependencyTypes: ["core"], path: AUTHORITY, pathNot: "^(node:)?net$" },
    },
    {
      name: "module-loading",
      comment: "a package that is given back is brought back by `require`; this one file knows which",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: ["^src/(sandbox|stores|transports|server|cli)/", "^src/policy/compile/cedar\\.ts$"],
      },
      to: { dependencyTypes: ["core"], path: "^(node:)?module$" },
    },
    {
      name: "native-calls",
      comment: "koffi calls any function of any library: raw authority, kept where the machine is touched",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/(sandbox|stores)/"] },
      to: { path: "(^|node_modules/)koffi(/|$)" },
    },
    {
      name: "tests-are-not-imported",
      comment: "code never depends on its tests",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts|examples)/" },
    },
    {
      name: "unresolvable",
      comment: "an import that cannot be followed cannot be checked",
      severity: "error",
      from: { path: "^src/" },
      to: { couldNotResolve: true },
    },
    {
      name: "dev-dependency-in-product",
      comment: "what ships may import only what is installed with it",
      severity: "error",
      from: { path: "^src/" },
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], dependencyTypesNot: ["type-only"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true, // type-only imports count: knowing a type is knowing
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
      mainFields: ["module", "main"],
    },
  },
};
