// Which command tests or lints a project: a matrix of projects, what the operator chose before it, and targets as each
// runner takes them.
import { describe, expect, test } from "vitest";
import type { ChosenToolchain, ProjectFileName, Toolchain } from "../../../src/model/work/toolchain.ts";
import { findCommand } from "../../../src/tools/toolchain/find-command.ts";
import type { Purpose } from "../../../src/tools/toolchain/project.ts";
import { piecesOf } from "../../support/turns.ts";

type Texts = Partial<Record<ProjectFileName, string>>;

function toolchain(texts: Texts, chosen: ChosenToolchain = {}): Toolchain {
  return { files: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { text }])), chosen };
}

/** The command line and what named it, or why there is none. */
function found(texts: Texts, purpose: Purpose, target?: string, chosen?: ChosenToolchain): string {
  const one = findCommand(toolchain(texts, chosen), purpose, target);
  return one.kind === "found" ? `${one.command.join(" ")} <- ${one.source}` : `none: ${one.message}`;
}

const scripts = (own: object, more: object = {}) => JSON.stringify({ name: "x", scripts: own, ...more });
const BOTH = scripts({ test: "node --test", lint: "biome check" });

const NOTHING_TO_TEST =
  "none: nothing in the workspace root says which command runs the tests; looked for a script `test` in package.json, pytest, Cargo.toml, go.mod, a goal `test` in a makefile";
const NOTHING_TO_LINT =
  "none: nothing in the workspace root says which command runs the linter; looked for a script `lint` in package.json, ruff or flake8, Cargo.toml, go.mod, a goal `lint` in a makefile";

const MATRIX: readonly (readonly [what: string, files: Texts, test: string, lint: string])[] = [
  ["nothing", {}, NOTHING_TO_TEST, NOTHING_TO_LINT],
  ["npm", { "package.json": BOTH }, "npm test <- package.json", "npm run lint <- package.json"],
  [
    "npm with a lock file",
    { "package.json": BOTH, "package-lock.json": "" },
    "npm test <- package.json",
    "npm run lint <- package.json",
  ],
  [
    "pnpm",
    { "package.json": BOTH, "pnpm-lock.yaml": "" },
    "pnpm run test <- package.json",
    "pnpm run lint <- package.json",
  ],
  ["yarn", { "package.json": BOTH, "yarn.lock": "" }, "yarn run test <- package.json", "yarn run lint <- package.json"],
  [
    "what package.json says of its manager goes before lock files",
    {
      "package.json": scripts({ test: "x", lint: "x" }, { packageManager: "yarn@4.1.0+sha512.x" }),
      "pnpm-lock.yaml": "",
    },
    "yarn run test <- package.json",
    "yarn run lint <- package.json",
  ],
  [
    "a byte order mark",
    { "package.json": `\ufeff${BOTH}` },
    "npm test <- package.json",
    "npm run lint <- package.json",
  ],
  ["no scripts", { "package.json": "{}" }, NOTHING_TO_TEST, NOTHING_TO_LINT],
  ["scripts that are none", { "package.json": scripts({ test: 7, lint: " " }) }, NOTHING_TO_TEST, NOTHING_TO_LINT],
  ["a name that every object has", { "package.json": '{"scripts":[]}' }, NOTHING_TO_TEST, NOTHING_TO_LINT],
  [
    "what npm init writes where there are no tests",
    { "package.json": scripts({ test: 'echo "Error: no test specified" && exit 1' }), Makefile: "test:\n\ttrue\n" },
    "make test <- Makefile",
    NOTHING_TO_LINT,
  ],
  [
    "broken JSON",
    { "package.json": "{", Makefile: "test:\nlint:\n" },
    "none: `package.json` is not valid JSON, so nobody knows which command runs the tests",
    "none: `package.json` is not valid JSON, so nobody knows which command runs the linter",
  ],
  ["pytest.ini", { "pytest.ini": "" }, "pytest <- pytest.ini", NOTHING_TO_LINT],
  ["conftest.py", { "conftest.py": "" }, "pytest <- conftest.py", NOTHING_TO_LINT],
  [
    "settings in pyproject.toml",
    { "pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n" },
    "pytest <- pyproject.toml",
    "ruff check <- pyproject.toml",
  ],
  [
    "dependencies in pyproject.toml",
    { "pyproject.toml": 'dev = ["pytest>=8", "flake8"]\n' },
    "pytest <- pyproject.toml",
    "flake8 <- pyproject.toml",
  ],
  ["plugins alone", { "pyproject.toml": 'dev = ["pytest-cov", "ruff-lsp"]\n' }, NOTHING_TO_TEST, NOTHING_TO_LINT],
  ["setup.cfg", { "setup.cfg": "[tool:pytest]\n[flake8]\n" }, "pytest <- setup.cfg", "flake8 <- setup.cfg"],
  ["tox.ini", { "tox.ini": "[pytest]\n[flake8]\n" }, "pytest <- tox.ini", "flake8 <- tox.ini"],
  ["ruff.toml", { "ruff.toml": "", "pytest.ini": "" }, "pytest <- pytest.ini", "ruff check <- ruff.toml"],
  [
    "poetry",
    { "pyproject.toml": '[tool.poetry]\npytest = "^8"\nruff = "*"\n', "poetry.lock": "" },
    "poetry run pytest <- pyproject.toml",
    "poetry run ruff check <- pyproject.toml",
  ],
  [
    "cargo",
    { "Cargo.toml": "" },
    "cargo test --offline <- Cargo.toml",
    "cargo clippy --offline --all-targets <- Cargo.toml",
  ],
  ["go", { "go.mod": "" }, "go test ./... <- go.mod", "go vet ./... <- go.mod"],
  [
    "golangci-lint",
    { "go.mod": "", ".golangci.yml": "" },
    "go test ./... <- go.mod",
    "golangci-lint run ./... <- go.mod, .golangci.yml",
  ],
  ["make", { Makefile: "all test lint: deps\n" }, "make test <- Makefile", "make lint <- Makefile"],
  [
    "GNUmakefile before Makefile",
    { GNUmakefile: "test::\n", Makefile: "lint:\n" },
    "make test <- GNUmakefile",
    NOTHING_TO_LINT,
  ],
  [
    "makefiles that only look so",
    { Makefile: "test := 1\nlint ::= 2\n\ttest:\n#lint:\n.PHONY: test lint\ntest.o: x\nX = a test: b\n" },
    NOTHING_TO_TEST,
    NOTHING_TO_LINT,
  ],
  [
    "makefiles stand last",
    { "go.mod": "", Makefile: "test:\nlint:\n" },
    "go test ./... <- go.mod",
    "go vet ./... <- go.mod",
  ],
];

test.each(MATRIX)("%s", (_what, files, tested, linted) => {
  expect(found(files, "test")).toBe(tested);
  expect(found(files, "lint")).toBe(linted);
});

test("a file that cannot be looked at is said, not passed over", () => {
  for (const [name, problem] of [
    ["package.json", "is larger than 64 KiB"],
    ["pyproject.toml", "cannot be read"],
    ["Makefile", "cannot be read"],
  ] as const) {
    const one = findCommand({ files: { [name]: { problem } }, chosen: {} }, "test", undefined);
    expect(one).toEqual({
      kind: "none",
      message: `\`${name}\` ${problem}, so nobody knows which command runs the tests`,
      suggestion: "ask the operator to name the command under `workspaces[].toolchain.test` in handrail.yaml",
      from: [name],
    });
  }
});

test("what the operator chose goes before everything that files say, also where those cannot be used", () => {
  const chosen: ChosenToolchain = { test: ["./ci/test", "--all"] };
  expect(found({ "package.json": BOTH }, "test", undefined, chosen)).toBe("./ci/test --all <- handrail.yaml");
  expect(found({ "package.json": "{" }, "test", undefined, chosen)).toBe("./ci/test --all <- handrail.yaml");
  expect(found({ "package.json": BOTH }, "lint", undefined, chosen)).toBe("npm run lint <- package.json");
  expect(found({}, "test", "a/b_test.py::test_x[1-2]", chosen)).toBe(
    "./ci/test --all a/b_test.py::test_x[1-2] <- handrail.yaml",
  );
});

describe("targets", () => {
  const NO_NAMES = "none: `%` cannot look at that target";
  const noNames = (runner: string) => NO_NAMES.replace("%", runner);
  test.each([
    [{ "package.json": BOTH }, "test", "test/a.test.js", "npm test -- test/a.test.js"],
    [{ "package.json": BOTH }, "lint", "./src/", "npm run lint -- src"],
    [{ "package.json": BOTH }, "test", "/workspace/test", "npm test -- test"],
    [{ "package.json": BOTH }, "test", "/workspace", "npm test -- ."],
    [{ "package.json": BOTH }, "test", "@types/x.test.ts", "npm test -- ./@types/x.test.ts"],
    [{ "package.json": BOTH }, "test", "~/x", "npm test -- ./~/x"],
    [{ "package.json": BOTH }, "test", "pages/[id]/(a)/é b.test.ts", "npm test -- pages/[id]/(a)/é b.test.ts"],
    [{ "package.json": BOTH }, "test", "a.ts::x", noNames("npm")],
    [{ "package.json": BOTH, "pnpm-lock.yaml": "" }, "test", "a", "pnpm run test a"],
    [{ "package.json": BOTH, "yarn.lock": "" }, "lint", "a", "yarn run lint a"],
    [{ "pytest.ini": "" }, "test", "tests/test_a.py::TestB::test_c[x-1]", "pytest tests/test_a.py::TestB::test_c[x-1]"],
    [{ "pytest.ini": "" }, "test", "@args", "pytest ./@args"],
    [{ "ruff.toml": "" }, "lint", "src", "ruff check src"],
    [{ "ruff.toml": "" }, "lint", "src::x", noNames("ruff")],
    [{ "Cargo.toml": "" }, "test", "tests/api.rs", "cargo test --offline --test=api"],
    [{ "Cargo.toml": "" }, "test", "crates/core", "cargo test --offline --manifest-path=crates/core/Cargo.toml"],
    [{ "Cargo.toml": "" }, "test", ".", "cargo test --offline --manifest-path=./Cargo.toml"],
    [
      { "Cargo.toml": "" },
      "lint",
      "crates/core",
      "cargo clippy --offline --all-targets --manifest-path=crates/core/Cargo.toml",
    ],
    [{ "Cargo.toml": "" }, "test", "src/lib.rs", noNames("cargo")],
    [{ "Cargo.toml": "" }, "test", "tests/a.rs::b", noNames("cargo")],
    [{ "go.mod": "" }, "test", "pkg/a", "go test ./pkg/a/..."],
    [{ "go.mod": "" }, "test", "pkg/a/a_test.go", "go test ./pkg/a"],
    [{ "go.mod": "" }, "test", "a_test.go", "go test ."],
    [{ "go.mod": "" }, "lint", ".", "go vet ./..."],
    [{ Makefile: "test:\n" }, "test", "a", noNames("make")],
  ] as const)("%j, %s of %s: %s", (files, purpose, target, expected) => {
    expect(found(files, purpose, target).replace(/ <- .*$/, "")).toBe(expected);
  });

  test("where a runner takes no such target, the suggestion says what to do", () => {
    expect(findCommand(toolchain({ Makefile: "test:\n" }), "test", "a")).toMatchObject({
      suggestion: "`make test` always looks at everything; leave the target out",
    });
    expect(findCommand(toolchain({ "go.mod": "" }), "test", "a::b")).toMatchObject({
      suggestion: "only pytest takes names of tests after `::`; name a file or a directory",
    });
  });
});

test("managers that would fetch another version of themselves are told to use the installed one", () => {
  const environment = (texts: Texts) => {
    const one = findCommand(toolchain(texts), "test", undefined);
    return one.kind === "found" ? one.environment : undefined;
  };
  const named = (manager: string) => ({
    "package.json": scripts({ test: "x" }, { packageManager: `${manager}@1.2.3` }),
  });
  expect(environment(named("npm"))).toEqual({});
  expect(environment(named("yarn"))).toEqual({ COREPACK_ENABLE_NETWORK: "0" });
  expect(environment(named("pnpm"))).toEqual({
    COREPACK_ENABLE_NETWORK: "0",
    npm_config_manage_package_manager_versions: "false",
    pnpm_config_pm_on_fail: "ignore",
  });
  expect(environment({ "go.mod": "module x\n\ngo 99.0\n" })).toEqual({ GOTOOLCHAIN: "local", GOPROXY: "off" });
});

test.each(["\n", " \n", "\t\n", "[", "\n[tool."])("a file of nothing but %j is looked at in passing", (piece) => {
  const text = piece.repeat((64 * 1024) / piece.length);
  const pieces = piecesOf(() => {
    for (const purpose of ["test", "lint"] as const)
      findCommand(toolchain({ "pyproject.toml": text, Makefile: text }), purpose, undefined);
  });
  expect(pieces).toBeLessThan(200);
});
