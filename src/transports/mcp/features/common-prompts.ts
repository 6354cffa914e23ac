/** Offers prompts for common work: each says which tools do it, in an order that has proved itself. */
import type { JsonObject } from "../../../base/json.ts";
import { PromptProblem } from "../protocol/features.ts";
import { shortened } from "../protocol/rpc-error.ts";

interface Prompt {
  readonly title: string;
  readonly description: string;
  readonly args: Readonly<Record<string, { readonly description: string; readonly required: boolean }>>;
  readonly text: (args: Readonly<Record<string, string>>) => string;
}

/** Characters (UTF-16 code units) of one argument. */
const ARGUMENT_CHARACTERS_MAX = 4_000;

const PROMPTS: Readonly<Record<string, Prompt>> = {
  explain_code: {
    title: "Explain code",
    description: "Explains a file or directory from its text and from who uses it.",
    args: { path: { description: "File or directory, relative to the workspace root.", required: true } },
    text: ({ path }) =>
      `Explain \`${path}\`. Read it first, then find who uses its exported names. Say what it is for, how its parts work together, and what would surprise a new reader; name files and lines.`,
  },
  fix_failing_test: {
    title: "Fix a failing test",
    description: "Runs tests, finds the cause of a failure and mends it.",
    args: { test: { description: "Test file or name. All tests without it.", required: false } },
    text: ({ test }) =>
      `Run ${test === undefined ? "the tests" : `the test \`${test}\``}. For each failure, find the cause in the code before you change anything. Mend the cause, not the test, with the smallest edit that does; run it again until it passes, then run the tests around it.`,
  },
  review_changes: {
    title: "Review changes",
    description: "Reviews what differs from the last commit.",
    args: {},
    text: () =>
      "Review what differs from the last commit: look at status and diff, and read around each change as far as it reaches. Report faults first, each with file, line and what goes wrong; then what is missing (tests, documentation); change nothing.",
  },
  plan_change: {
    title: "Plan a change",
    description: "Plans a change before it is made.",
    args: { task: { description: "What is to be changed.", required: true } },
    text: ({ task }) =>
      `Plan this change, and make none yet: ${task}\nFind the files that it touches and the tests that cover them. List the steps in order, each small enough to be checked by itself, and what could go wrong. Say which calls will need approval.`,
  },
};

/** The prompts as `prompts/list` shows them. */
export function listPrompts(): readonly JsonObject[] {
  return Object.entries(PROMPTS).map(([name, { title, description, args }]) => ({
    name,
    title,
    description,
    arguments: Object.entries(args).map(([argument, facts]) => ({ name: argument, ...facts })),
  }));
}

/** The result of `prompts/get`; `undefined` where there is no such prompt. @throws PromptProblem */
export function getPrompt(name: string, args: Readonly<Record<string, string>>): JsonObject | undefined {
  const prompt = Object.hasOwn(PROMPTS, name) ? PROMPTS[name] : undefined;
  if (prompt === undefined) return undefined;
  for (const [argument, { required }] of Object.entries(prompt.args)) {
    const value = args[argument];
    if (required && (value === undefined || value.trim() === ""))
      throw new PromptProblem(`the prompt \`${name}\` needs the argument \`${argument}\``);
    if (value !== undefined && value.length > ARGUMENT_CHARACTERS_MAX)
      throw new PromptProblem(`\`${argument}\` has more than ${ARGUMENT_CHARACTERS_MAX} characters; say it shorter`);
  }
  const unknown = Object.keys(args).find((argument) => !Object.hasOwn(prompt.args, argument));
  if (unknown !== undefined)
    throw new PromptProblem(`the prompt \`${name}\` has no argument \`${shortened(unknown)}\``);
  const content = { type: "text", text: prompt.text(args) };
  return { description: prompt.description, messages: [{ role: "user", content }] };
}
