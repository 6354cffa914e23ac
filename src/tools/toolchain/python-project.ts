/**
 * Python projects: pytest, ruff and flake8, where the project's files name them; through poetry where it manages the
 * project.
 */
import type { ProjectFileName, Toolchain, ToolchainCommand } from "../../model/work/toolchain.ts";
import { type ProjectKind, withNames, withPaths } from "./project.ts";

type Files = Toolchain["files"];

/** What shows that a tool is used: a file of its own, or words in a file of several tools. */
interface Mark {
  readonly file: ProjectFileName;
  readonly words?: RegExp;
}

// No expression passes over the end of a line: whoever writes the file must not be able to keep the kernel busy with
// empty ones.
const PYTEST: readonly Mark[] = [
  { file: "pytest.ini" },
  { file: "pyproject.toml", words: /^[ \t]*\[tool\.pytest\b|["']pytest(?![\w-])|^[ \t]*pytest[ \t]*=/m },
  { file: "setup.cfg", words: /^\[tool:pytest\]/m },
  { file: "tox.ini", words: /^\[pytest\]/m },
  { file: "conftest.py" },
];

const RUFF: readonly Mark[] = [
  { file: "ruff.toml" },
  { file: ".ruff.toml" },
  { file: "pyproject.toml", words: /^[ \t]*\[tool\.ruff\b|["']ruff(?![\w-])|^[ \t]*ruff[ \t]*=/m },
];

const FLAKE8: readonly Mark[] = [
  { file: ".flake8" },
  { file: "setup.cfg", words: /^\[flake8\]/m },
  { file: "tox.ini", words: /^\[flake8\]/m },
  { file: "pyproject.toml", words: /["']flake8(?![\w-])|^[ \t]*flake8[ \t]*=/m },
];

/** pytest, ruff and flake8. */
export const pythonProject: ProjectKind = (files, purpose) => {
  const { "pyproject.toml": described } = files;
  if (described?.problem !== undefined) return { kind: "unusable", file: "pyproject.toml", problem: described.problem };
  if (purpose === "test") {
    const from = shownBy(files, PYTEST);
    if (from === undefined) return undefined;
    const command = managed(files, ["pytest"]);
    return { kind: "command", runner: "pytest", from, commandFor: withNames(command) };
  }
  const ruff = shownBy(files, RUFF);
  if (ruff)
    return { kind: "command", runner: "ruff", from: ruff, commandFor: withPaths(managed(files, ["ruff", "check"])) };
  const flake8 = shownBy(files, FLAKE8);
  return (
    flake8 && { kind: "command", runner: "flake8", from: flake8, commandFor: withPaths(managed(files, ["flake8"])) }
  );
};

function shownBy(files: Files, marks: readonly Mark[]): readonly ProjectFileName[] | undefined {
  const found = marks.find(
    ({ file, words }) => files[file] && (words === undefined || words.test(files[file].text ?? "")),
  );
  return found && [found.file];
}

/** poetry keeps a project's tools in an environment of its own. */
function managed(files: Files, command: ToolchainCommand): ToolchainCommand {
  const isPoetry =
    files["poetry.lock"] !== undefined || /^[ \t]*\[tool\.poetry\]/m.test(files["pyproject.toml"]?.text ?? "");
  return isPoetry ? ["poetry", "run", ...command] : command;
}
