// The list of obeyed files: every entry is complete and makes a protected zone; what people run by name stays ordinary.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { OBEYED_FILES, obeyedBy, PLAIN_DOCUMENTS } from "../../../../src/model/place/obeyed-files/obeyed-files.ts";
import { BUILT_IN_ZONE_RULES, compileZones } from "../../../../src/model/place/zone.ts";

const zones = compileZones(BUILT_IN_ZONE_RULES, "");
const zoneOf = (path: string) => zones.classify({ root: "service", path });

/** A path that the pattern names. */
const exampleOf = (pattern: string) => pattern.replace("**/", "").replace(/^\//, "").replaceAll("*", "x");

/** Kept apart from the list that it judges. */
const KNOWN = readFileSync(new URL("../../../vectors/obeyed-files.txt", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));

test("each name that is known to be obeyed is protected, and the same names with something before them are not", () => {
  expect(KNOWN.filter((pattern) => zoneOf(exampleOf(pattern)) !== "protected")).toEqual([]);
  expect(OBEYED_FILES.map(({ pattern }) => pattern).toSorted()).toEqual(KNOWN.toSorted());
  // The control: it is the name that protects.
  const others = KNOWN.filter((pattern) => /^[\w.-]+$/.test(pattern)).map((pattern) => `not-${pattern}`);
  expect(others.length).toBeGreaterThan(400);
  expect(others.filter((name) => zoneOf(name) !== "own")).toEqual([]);
});

test("every entry says who obeys it and where that is written, and no pattern stands twice", () => {
  expect(OBEYED_FILES.length).toBeGreaterThan(350);
  for (const { pattern, reason, source } of OBEYED_FILES) {
    expect(reason, pattern).toMatch(/^[^\n]{10,180}[^.\n]$/);
    expect(source, pattern).toMatch(/^https:\/\/[^\s]+$/);
    expect(pattern).toMatch(/^(?:\*\*\/[\w.-]+\/[\w.-]+|\/?[\w.-]+|\*\.[\w-]+|[\w.-]+\*)$/);
  }
  const folded = OBEYED_FILES.map(({ pattern }) => pattern.toLowerCase());
  expect(folded.filter((pattern, index) => folded.indexOf(pattern) !== index)).toEqual([]);
});

test("names whose case counts are protected as they are written, and nothing else", () => {
  for (const { pattern } of OBEYED_FILES.filter(({ isExact }) => isExact)) {
    expect([zoneOf(pattern), zoneOf(`a/${pattern}`), zoneOf(pattern.toLowerCase())]).toEqual([
      "protected",
      "protected",
      "own",
    ]);
    expect([obeyedBy(`a/${pattern}`)?.pattern, obeyedBy(pattern.toLowerCase())]).toEqual([pattern, undefined]);
  }
});

test.each(OBEYED_FILES.filter(({ isExact }) => !isExact).map(({ pattern }) => pattern))(
  "`%s` is protected in any case, with all below it, and named with its reason",
  (pattern) => {
    const name = exampleOf(pattern);
    const places = pattern.startsWith("/") ? [name] : [name, `packages/a/${name}`];
    for (const path of places.flatMap((one) => [one, one.toUpperCase(), `${one}/below/it`])) {
      expect(zoneOf(path), path).toBe("protected");
      expect(obeyedBy(path)?.pattern, path).toBe(obeyedBy(name)?.pattern);
    }
    expect(obeyedBy(name)).toBeDefined();
  },
);

test.each([
  ...[
    "Makefile",
    "makefile",
    "justfile",
    "Taskfile.yml",
    "package.json",
    "package-lock.json",
    "Dockerfile",
    "docker-compose.yml",
    "Vagrantfile",
  ],
  ...[
    "setup.py",
    "pyproject.toml",
    "conftest.py",
    "build.rs",
    "Cargo.toml",
    "go.mod",
    "Gemfile",
    "pom.xml",
    "build.gradle",
    "gradlew",
  ],
  ...[
    "eslint.config.js",
    ".prettierrc",
    "tsconfig.json",
    "vitest.config.ts",
    ".rubocop.yml",
    ".golangci.yml",
    "tox.ini",
    ".pylintrc",
  ],
  ...[".gitignore", ".gitkeep", ".mailmap", ".git-blame-ignore-revs", ".editorconfig", ".dockerignore", ".npmignore"],
  ...[
    ".nvmrc",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".yarn/cache/a.zip",
    ".yarn/install-state.gz",
    "node.mjs",
  ],
  ...[
    "README.md",
    "docs/agents.html",
    "src/claude.ts",
    "src/rules.ts",
    "app/owners/page.tsx",
    "mise.md",
    "my.vscode.md",
  ],
])("`%s` stays ordinary, because a person runs or reads it by name", (path) => {
  expect(zoneOf(path)).toBe("own");
  expect(obeyedBy(path)).toBeUndefined();
});

test("plain documents of a forge are written like any file, and only they", () => {
  for (const path of PLAIN_DOCUMENTS) expect(zoneOf(path), path).toBe("own");
  for (const path of [
    ".github/workflows/README.md",
    ".github/instructions/a.md",
    ".github/README.md.yml",
    ".gitlab/CODEOWNERS",
    "a/.gitea/README.md",
  ])
    expect(zoneOf(path), path).toBe("protected");
});
