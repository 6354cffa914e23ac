/**
 * `run_test` and `run_lint`: the project's own tests and linter, in the sandbox, without a network.
 *
 * Analysis looks at what the project says and names the very command, so that leases, policy and people see what runs.
 * INVARIANT: what runs is what was analysed, also when the project's files change while somebody is asked.
 */
import { z } from "zod";
import { KIB } from "../../base/bytes.ts";
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import { FailureWithoutEffect } from "../../model/outcome/failure.ts";
import type { Access } from "../../model/place/access.ts";
import { commandOf } from "../../model/place/command.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { type Toolchain, UNKNOWN_TOOLCHAIN } from "../../model/work/toolchain.ts";
import { RUNS } from "../kit/capabilities.ts";
import { commandTexts } from "../kit/command-text.ts";
import { requireWithinBounds } from "../kit/ended-run.ts";
import { flag, integer, text } from "../kit/result-schema.ts";
import { UNATTENDED } from "./environment.ts";
import { isPassed, RUN_PROPERTIES, runResult } from "./exec-result.ts";
import { findCommand } from "./find-command.ts";
import type { Purpose } from "./project.ts";
import { testSummary } from "./summary.ts";
import { target, targetOf } from "./target.ts";
import { truncationStrategy } from "./truncation.ts";

/** Bytes of each end of each stream that are kept of tests, linters and installations, to find failures in. */
export const TOOLCHAIN_KEPT_BYTES = 512 * KIB;

const parameters = z.strictObject({ target: target.optional(), truncation_strategy: truncationStrategy.optional() });
type CheckArguments = z.infer<typeof parameters>;

const PASSED = flag("The command ended with exit code 0.");
const SOURCE = text("What named the command: `handrail.yaml`, or files of the workspace.");

/** The tool `run_test`. */
export const runTest: Tool<CheckArguments> = checkTool({
  name: "run_test",
  title: "Run tests",
  description:
    "Runs the project's tests, found by its files (package.json scripts, pytest, cargo, go, make) or named by the operator, in a sandbox without a " +
    "network. Tests that fail are a result, not an error: look at `passed`.",
  purpose: "test",
});

/** The tool `run_lint`. */
export const runLint: Tool<CheckArguments> = checkTool({
  name: "run_lint",
  title: "Run the linter",
  description:
    "Runs the project's linter, found by its files (package.json scripts, ruff, flake8, cargo clippy, go vet, make) or named by the operator, in a " +
    "sandbox without a network. What it complains about is a result, not an error: look at `passed`.",
  purpose: "lint",
});

interface Check {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly purpose: Purpose;
}

function checkTool(check: Check): Tool<CheckArguments> {
  const { purpose, ...described } = check;
  return {
    ...described,
    parameters,
    outputSchema: {
      type: "object",
      properties: {
        ...RUN_PROPERTIES,
        source: SOURCE,
        passed: PASSED,
        tests: {
          type: "object",
          description: "Counts, where the runner's output has them.",
          properties: { passed: integer(), failed: integer(), skipped: integer() },
        },
      },
      required: ["command", "source", "passed", "stdout", "stderr", "duration_ms"],
    },
    capability: {
      ...RUNS,
      // without a network nothing leaves the workspace, whatever was read before
      labels: { ...RUNS.labels, acceptsUntrusted: true },
    },
    analyse: (args, toolchain) => accessesOf(check, args, toolchain?.() ?? UNKNOWN_TOOLCHAIN),
    projectWords(args, toolchain) {
      const found = findCommand(toolchain(), purpose, args.target);
      const [path] = found.from;
      return found.kind === "found" && found.words !== undefined && path !== undefined
        ? [{ path, text: found.words }]
        : [];
    },
    async execute(args, { toolchain, exec }) {
      const known = toolchain();
      const found = findCommand(known, purpose, args.target);
      if (found.kind === "none") throw new FailureWithoutEffect("NOT_SUPPORTED", found.message, found.suggestion);
      const outcome = await exec.run({
        command: { argv: found.command },
        environment: { ...UNATTENDED, ...found.environment },
        timeoutMs: known.chosen.timeoutMs ?? 0,
        keptBytesMax: TOOLCHAIN_KEPT_BYTES,
      });
      requireWithinBounds(
        outcome,
        "give a narrower `target`, or ask the operator for more time (`toolchain.timeout_seconds`)",
      );
      const tests = purpose === "test" ? (summaryOf(outcome.stdout) ?? summaryOf(outcome.stderr)) : undefined;
      const more = { source: found.source, passed: isPassed(outcome), ...(tests && { tests: { ...tests } }) };
      return runResult({ command: commandOf(found.command).line, strategy: args.truncation_strategy }, outcome, more);
    },
    toText: (data) => commandTexts(data, [`${data["passed"] === true ? "passed" : "failed"}: ${ranText(data)}`]),
  };
}

/** The command, who named it, and how many tests did what. */
function ranText({ command, source, tests }: JsonObject): string {
  const counts = isJsonObject(tests) ? Object.entries(tests).map(([what, count]) => `, ${String(count)} ${what}`) : [];
  return `${String(command)} (named by ${String(source)})${counts.join("")}`;
}

function summaryOf({ head, tail }: { readonly head: string; readonly tail: string }) {
  return testSummary(tail === "" ? head : tail);
}

/**
 * The command, the files that name it, and the target. Where no command is found the tool itself is what is judged; it
 * will say so.
 */
function accessesOf(
  { name, purpose }: Check,
  { target: text }: CheckArguments,
  toolchain: Toolchain,
): readonly Access[] {
  const found = findCommand(toolchain, purpose, text);
  const looked = [...found.from, ...(text === undefined ? [] : [targetOf(text).asked])];
  return [
    { resource: found.kind === "found" ? commandOf(found.command) : { kind: "tool", name }, effect: "exec" },
    ...looked.map((path): Access => ({ resource: { kind: "file", path }, effect: "read" })),
  ];
}
