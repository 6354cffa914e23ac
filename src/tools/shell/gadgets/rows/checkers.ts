/** Gadgets of test runners, linters and what measures coverage. What a project's own files say is plain use of them. */
import { type Gadget, loads, runs, starts, type ValueLetters } from "./gadget.ts";

/** Test runners, linters, coverage. */
export const CHECKERS: readonly Gadget[] = [
  starts("prove", "prove(1)", { options: "-e --exec -P -M --harness --formatter --source --archive --rc" }),
  loads("pytest py.test", "pytest(1)", {
    options: "-p -c --config-file --pdbcls --confcutdir --rootdir --override-ini -o",
  }),
  loads("mypy pyright pylint flake8 isort", "mypy(1), pylint(1)", {
    options:
      "--load-plugins --init-hook --config-file --rcfile --config --python-executable --pythonpath --append-config",
  }),
  runs("ruff black", "ruff(1)", { options: "--config-file" }),
  runs("coverage", "coverage(1)", { verbs: "run", options: "--rcfile" }),
  runs("tox nox invoke fab", "tox(1)", {
    options: "-c -f -x --override --noxfile --search-root --collection",
    verbs: "exec, devenv",
  }),
  loads("eslint", "eslint --help", {
    options: "--rulesdir --plugin --parser --resolve-plugins-relative-to --stdin-config",
  }),
  loads("eslint", "eslint --help", {
    options: "-f --format",
    plain: /^(?:stylish|json|json-with-metadata|html|compact|unix|junit|checkstyle|tap|visualstudio|jslint-xml)$/,
  }),
  loads("standard xo semistandard", "standard --help", { options: "--plugin --parser --extend --extends" }),
  loads("prettier stylelint", "prettier --help", {
    options: "--plugin --plugin-search-dir --custom-syntax --custom-formatter --config-basedir",
  }),
  loads("mocha ava jasmine", "mocha --help", {
    options: "-r --require --import --loader --reporter -R --ui -u -n --node-option --node-arguments --helper",
  }),
  loads("jest", "jest --help", {
    options:
      "--runner --testRunner --globalSetup --globalTeardown --environment --resolver --transform --setupFilesAfterEnv --filter --testEnvironment --testSequencer --testResultsProcessor --snapshotSerializers --watchPlugins --prettierPath --preset --moduleNameMapper",
  }),
  loads("jest", "jest --help", { options: "--reporters", plain: /^(?:default|summary|github-actions|agent)$/ }),
  loads("vitest", "vitest --help", {
    options:
      "--globalSetup --environment --runner --execArgv --diff --snapshotEnvironment --setupFiles --coverage.customProviderModule",
    words: /execArgv/,
    by: "execArgv",
  }),
  loads("vitest", "vitest --help", {
    options: "--reporter --pool",
    plain:
      /^(?:default|basic|verbose|dot|json|tap|tap-flat|junit|hanging-process|github-actions|html|blob|tree|agent|minimal|forks|threads|vmForks|vmThreads|typescript)$/,
  }),
  loads("tap node-tap tape qunit", "tap(1), qunit --help", {
    options: "-r --require --import --loader --before --after --node-arg --plugin --reporter",
  }),
  loads("playwright", "playwright test --help", {
    options: "--reporter",
    plain: /^(?:(?:list|line|dot|html|blob|json|junit|github|null)(?:,|$))+$/,
  }),
  starts("cypress", "cypress run --help", {
    options: "-b --browser",
    plain: /^(?:chrome|chromium|edge|electron|firefox)(?::\w+)?$/,
  }),
  loads("cypress", "cypress run --help", { options: "-r --reporter", plain: /^(?:spec|dot|json|junit|tap|nyan|min)$/ }),
  loads("karma testcafe wdio nightwatch", "each program's own help", {
    options: "--reporters --reporter --require --plugins --framework",
    words: /^path:/,
    by: "path:",
  }),
  loads("commitlint", "commitlint --help", { options: "-x --extends -p --parser-preset -o --format --plugins" }),
  loads("markdownlint textlint remark htmlhint spectral ajv cspell", "each program's own help", {
    options: "-r --rules --rulesdir --rule --plugin --preset --use -u --resolver --reporter -R",
  }),
  loads("graphql-codegen typeorm", "graphql-codegen --help", { options: "-r --require" }),
  loads("rubocop standardrb haml-lint slim-lint", "rubocop(1)", {
    options: "-r --require --plugin --require-module --import --loader",
  }),
  loads("rspec parallel_rspec turnip", "rspec --help", {
    options: "-r --require --plugin --require-module --import --loader",
  }),
  loads("cucumber parallel_cucumber", "cucumber --help", {
    options: "-r --require --plugin --require-module --import --loader",
  }),
  loads("rubocop", "rubocop(1): its file may require others", { options: "-c --config" }),
  loads("rspec parallel_rspec", "rspec --help", { options: "-O --options -I" }),
  loads("yard yardoc", "yard(1)", { options: "-e --load --plugin" }),
  loads("brakeman", "brakeman --help", { options: "--add-checks-path" }),
  loads("phpunit pest paratest codecept behat phpspec phpbench", "phpunit --help", {
    options:
      "--bootstrap --printer --loader --extension --ext -c --configuration --config --include-path --prepend --php-binary --php-wrapper --runner --passthru-php",
  }),
  loads("phpstan psalm rector php-cs-fixer phpcs phpcbf infection deptrac", "phpstan analyse --help", {
    options:
      "-c --configuration --config -a --autoload-file --plugin --bootstrap --standard --runtime-set --filter --initial-tests-php-options --rules",
  }),
  loads("nose2 nosetests trial", "nose2 --help", { options: "--plugin --config -c --reporter --reactor --debugger" }),
  loads("behave", "behave --help", { options: "-r --runner" }),
  loads("robot rebot pabot", "robot --help", {
    options:
      "-V --variablefile --listener --prerunmodifier --prerebotmodifier -P --pythonpath --parser -A --argumentfile --command",
  }),
  loads("ansible-lint", "ansible-lint --help", { options: "-r -R --rules-dir -c --config-file" }),
  loads("checkov", "checkov --help", { options: "--external-checks-dir --external-checks-git --config-file" }),
  starts("mutmut", "mutmut run --help", { options: "--runner --pre-mutation --post-mutation" }),
  starts("gotestsum ginkgo", "gotestsum --help, ginkgo help run", {
    options: "--post-run-command --raw-command -after-run-hook -exec -toolexec -vettool",
  }),
  starts("golangci-lint", "golangci-lint help", { verbs: "custom" }),
  starts("bats", "bats --help", {
    options: "-F --formatter --report-formatter",
    plain: /^(?:pretty|tap|tap13|junit)$/,
  }),
  starts("shellspec", "shellspec --help", { options: "-s --shell --require --kcov-path --env-from -E" }),
  loads("busted luacheck", "busted --help", {
    options: "--helper --lua -e -o --output --lpath --cpath -m --config-file --config --loaders",
  }),
  starts("cabal", "cabal test --help", { options: "--test-wrapper", words: /^--with-[a-z]/, by: "--with-PROGRAM" }),
  loads("ktlint detekt scalafix", "each program's own help", {
    options: "-R --ruleset -p --plugins --classpath --rules --tool-classpath",
  }),
  loads("clang-tidy clang-query clang-check clangd scan-build", "clang-tidy(1), clangd(1)", {
    options: "-load -plugin --query-driver --use-cc --use-c++ --use-analyzer -extra-arg -extra-arg-before",
  }),
  starts("scan-build bear intercept-build analyze-build kcov", "scan-build(1), bear(1), kcov(1)", { always: true }),
  starts("cppcheck", "cppcheck(1)", { options: "--addon --addon-python --clang", words: /^--clang/, by: "--clang" }),
  starts("lcov genhtml geninfo gcovr", "lcov(1), gcovr(1)", {
    options:
      "--gcov-tool --gcov-executable --demangle-cpp --annotate-script --version-script --criteria-script --config-file --config",
  }),
];

/** Letters that take a value. */
export const CHECKER_VALUES: ValueLetters = {
  pytest: "knmorW",
};
