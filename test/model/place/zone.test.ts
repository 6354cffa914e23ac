// Zones: what a path is, whatever its case and depth; secret beats managed beats shared beats protected beats own.
import fc from "fast-check";
import { expect, test } from "vitest";
import type { WorkspacePath } from "../../../src/model/place/access.ts";
import { BUILT_IN_ZONE_RULES, compileZones, type Zone, type ZoneRules } from "../../../src/model/place/zone.ts";
import { compileGlob } from "../../../src/names/glob.ts";

const zones = compileZones(BUILT_IN_ZONE_RULES, "");
const zoneOf = (path: string): Zone => zones.classify({ root: "service", path });

test.each<[string, Zone]>([
  [".", "own"],
  ["src/main.ts", "own"],
  ["environment.ts", "own"],
  ["src/.environment.ts", "secret"],
  ["docs/secrets.md", "own"],
  [".env", "secret"],
  [".ENV", "secret"],
  [".env.local", "secret"],
  ["packages/a/.env.production", "secret"],
  [".env/nested", "secret"],
  [".env.example", "own"],
  [".env.example/key", "secret"],
  ["packages/a/.env.sample", "own"],
  ["secrets", "secret"],
  ["secrets/key.pem", "secret"],
  ["Secrets/key.pem", "secret"],
  ["deep/down/secrets/key.pem", "secret"],
  [".handrail/state.db", "secret"],
  [".git", "managed"],
  [".git/config", "managed"],
  [".GIT/config", "managed"],
  ["vendor/x/.git/hooks/pre-commit", "managed"],
  ["node_modules/left-pad/index.js", "managed"],
  ["node_modules/x/.env", "secret"],
  [".gitignore", "own"],
  ["shared/types.ts", "shared"],
  ["contracts/order.json", "shared"],
  ["shared_contracts/order.json", "shared"],
  ["src/shared/types.ts", "own"],
  ["shared/.env", "secret"],
  ["CLAUDE.md", "protected"],
  ["packages/a/AGENTS.md", "protected"],
  [".claude/settings.json", "protected"],
  [".vscode/tasks.json", "protected"],
  [".husky/pre-commit", "protected"],
  [".envrc", "secret"],
  [".github/workflows/ci.yml", "protected"],
  [".github/CODEOWNERS", "protected"],
  [".github/README.md", "own"],
  [".github/copilot-instructions.md", "protected"],
  [".github/ISSUE_TEMPLATE/bug.md", "own"],
  [".github/issue_template/Bug.yml", "own"],
  [".github/ISSUE_TEMPLATE/CLAUDE.md", "protected"],
  [".github/ISSUE_TEMPLATES/bug.md", "protected"],
  ["packages/a/.github/README.md", "protected"],
  [".npmrc", "protected"],
  ["packages/a/.cargo/config.toml", "protected"],
  ["shop.code-workspace", "protected"],
  ["a/b.CODE-WORKSPACE", "protected"],
  [".code-workspace", "protected"],
  ["code-workspace", "own"],
  [".yarn/cache/x.zip", "own"],
  [".yarn/releases", "protected"],
  ["packages/a/.YARN/releases/yarn.cjs", "protected"],
  [".docker/Dockerfile", "own"],
  ["a/.docker/config.json", "protected"],
  ["global.json", "protected"],
  ["locales/en/global.json", "own"],
  ["Makefile", "own"],
  ["package.json", "own"],
  [".editorconfig", "own"],
  [".nvmrc", "own"],
  [".hg/hgrc", "protected"],
  ["handrail.yaml", "shared"],
  ["Handrail.YAML", "shared"],
  ["services/orders/handrail.yaml", "shared"],
  ["handrail.yaml.md", "own"],
])("%s is %s", (path, zone) => {
  expect(zoneOf(path)).toBe(zone);
});

test("shared directories lie in the project, also for a service below it", () => {
  const inService = compileZones({ ...BUILT_IN_ZONE_RULES, readOnly: ["generated"] }, "services/orders");
  expect(inService.classify({ root: "project", path: "shared/types.ts" })).toBe("shared");
  expect(inService.classify({ root: "service", path: "shared/types.ts" })).toBe("own");
  expect(inService.classify({ root: "service", path: "generated/client.ts" })).toBe("shared");
  expect(inService.classify({ root: "project", path: "shared/.env" })).toBe("secret");
});

test("a template of a built-in secret is still secret when a configured pattern says so", () => {
  const zoneWith = (ownSecret: readonly string[], path: string) =>
    compileZones({ ...BUILT_IN_ZONE_RULES, ownSecret }, "").classify({ root: "service", path });
  expect(zoneWith([], ".env.example")).toBe("own");
  expect(zoneWith([".env.example"], ".env.example")).toBe("secret");
  expect(zoneWith(["/config"], "config/.env.sample")).toBe("secret");
  expect(zoneWith(["*.pem"], "a/b.pem")).toBe("secret");
});

test("hidden directories are literal paths of the project, seen from both roots and in any case", () => {
  const inService = compileZones(
    { ...BUILT_IN_ZONE_RULES, hidden: ["services/orders/a[1]*", "shared/state"] },
    "services/orders",
  );
  const zone = (root: "service" | "project", path: string) => inService.classify({ root, path });
  expect([zone("service", "a[1]*/x"), zone("service", "A[1]*"), zone("service", "a1x")]).toEqual([
    "secret",
    "secret",
    "own",
  ]);
  expect([zone("project", "shared/state/ledger.db"), zone("project", "shared/stately")]).toEqual(["secret", "shared"]);
  expect(zone("service", "shared/state")).toBe("own");
});

test("configured patterns add to the built-in ones", () => {
  const rules = {
    ...BUILT_IN_ZONE_RULES,
    secret: [...BUILT_IN_ZONE_RULES.secret, "*.pem", "/config/private", "data/**/*.key"],
  };
  const own = compileZones(rules, "");
  for (const path of ["a/b.pem", "config/private/x", "data/a/b.key", ".env"])
    expect(own.classify({ root: "service", path })).toBe("secret");
  for (const path of ["a/config/private/x", "key/data.txt"])
    expect(own.classify({ root: "service", path })).toBe("own");
});

test.each<[Partial<ZoneRules>, readonly string[], readonly string[]]>([
  [
    {},
    [".yarn", "a/.YARN", "mise", ".kube", "b/.docker"],
    ["a", "a/yarn", "node_modules/x", ".env", "global.json", ".yarn/x"],
  ],
  [{ ownSecret: ["vault/token.txt"] }, ["vault", "Vault"], ["a/vault", "vaults", "vault/x"]],
  [{ readOnly: ["third/party/x"] }, ["third", "third/party"], ["Third", "third/party/x", "third/other"]],
  [{ protected: ["infra/prod/*.tf", "{a,b}/**/c"] }, ["infra", "infra/prod", "a", "b/x/y"], ["infra/dev", "c"]],
  [{ secret: ["**/.tool/s.json", "**/*.pem", "**/*/k"] }, [".tool", "a/.tool"], ["a", "a/b", "x.pem"]],
  [{ restrictedReadOnly: ["x*/y"], restrictedProtected: ["*/z"] }, ["xa", "b"], ["b/c"]],
  [{ hidden: ["services/orders/a/state"], shared: ["services/orders/s/t"] }, ["a", "s"], ["state", "t"]],
])("with %j a link is above a rule at %j, and not at %j", (rules, above, others) => {
  const zones = compileZones({ ...BUILT_IN_ZONE_RULES, ...rules }, "services/orders");
  const isAbove = (path: string) => zones.isAboveRule({ root: "service", path });
  expect(above.filter(isAbove)).toEqual(above);
  expect(others.filter(isAbove)).toEqual([]);
});

test("a path has the zone and the restriction that the patterns say one by one, whatever was asked before it", () => {
  const rules: ZoneRules = {
    ...BUILT_IN_ZONE_RULES,
    ownSecret: ["*.key", "vault/{a,}"],
    hidden: ["services/orders/state", "deep"],
    readOnly: ["generated", "docs/**/*.pdf", "Docs/x"],
    protected: ["ci", "ci/x", ".github/workflows", "**/docs/a", "**/generated/b.pdf", "*.pdf", "Generate*", "cont*"],
    protectedExactly: ["Docs", "x", "**/services/A"],
    protectedPaths: ["docs/b.pdf", "vault/x"],
    protectedButPlain: [".github", "**/ci/docs"],
    plain: [".github/docs", ".github/b.pdf", "ci/docs/a"],
    restrictedReadOnly: ["a", "docs/a"],
    restrictedProtected: ["X", "/vault", "services/*/b.pdf"],
  };
  const name = fc.constantFrom(
    ...[
      "a",
      "vault",
      "x.key",
      "state",
      "deep",
      "docs",
      "b.pdf",
      "generated",
      "shared",
      "contracts",
      "services",
      "orders",
      "ci",
      "x",
    ],
    ...[
      ".git",
      ".GIT",
      ".env",
      ".env.example",
      "secrets",
      ".github",
      "workflows",
      "handrail.yaml",
      "\u212aey",
      "AGENTS.md",
    ],
    ...["Docs", "Generated", "SHARED", "Workflows", "A", "DEEP"],
  );
  const place = fc.record({
    root: fc.constantFrom("service" as const, "project" as const),
    path: fc.oneof(
      { weight: 9, arbitrary: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/")) },
      fc.constant("."),
    ),
  });
  for (const prefix of ["", "services/orders", "shared"]) {
    const asked = compileZones(rules, prefix);
    fc.assert(
      fc.property(fc.array(place, { maxLength: 20 }), (places) => {
        for (const one of places) {
          expect(asked.classify(one), JSON.stringify(one)).toBe(zoneOneByOne(rules, prefix, one));
          expect(asked.restriction(one), JSON.stringify(one)).toBe(restrictionOneByOne(rules, one));
        }
      }),
      { numRuns: 300 },
    );
  }
});

function matches(pattern: string, path: string, ignoreCase: boolean): boolean {
  return compileGlob(pattern, { ignoreCase, below: true })?.(path) === true;
}

/** Whether one of `patterns` names the path, or a directory above it: by a name at any depth, or from the root. */
function isOn(patterns: readonly string[], path: string, ignoreCase = true): boolean {
  return patterns.some((pattern) =>
    pattern.includes("/")
      ? matches(pattern.replace(/^\//, ""), path, ignoreCase)
      : path.split("/").some((name) => matches(pattern, name, ignoreCase)),
  );
}

function zoneOneByOne(rules: ZoneRules, prefix: string, { root, path }: WorkspacePath): Zone {
  const place = root === "project" || prefix === "" ? path : `${prefix}/${path}`;
  const slash = path.lastIndexOf("/");
  const isTemplate = rules.secretTemplates.some((pattern) => matches(pattern, path.slice(slash + 1), true));
  if (isOn(rules.ownSecret, path) || rules.hidden.some((one) => matches(one, place, true))) return "secret";
  if (slash !== -1 && isOn(rules.secret, path.slice(0, slash))) return "secret";
  if (isOn(rules.secret, path) && !isTemplate) return "secret";
  if (isOn(rules.managed, path)) return "managed";
  if (root === "project" || rules.shared.some((one) => matches(one, place, false))) return "shared";
  if (isOn(rules.readOnly, path, false) || isOn(rules.settings, path)) return "shared";
  const isPlain = rules.plain.some((one) => matches(one, path, true));
  if (isOn(rules.protectedExactly, path, false)) return "protected";
  if (rules.protectedPaths.some((one) => matches(one, path, true))) return "protected";
  return isOn(rules.protected, path) || (isOn(rules.protectedButPlain, path) && !isPlain) ? "protected" : "own";
}

function restrictionOneByOne(
  rules: ZoneRules,
  { path }: WorkspacePath,
): ReturnType<ReturnType<typeof compileZones>["restriction"]> {
  if (isOn(rules.restrictedReadOnly, path, false)) return "read_only";
  return isOn(rules.restrictedProtected, path) ? "protected" : undefined;
}
