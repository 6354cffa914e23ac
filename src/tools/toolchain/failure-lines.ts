/**
 * Recognises lines of a runner's output that look like failures.
 *
 * This is a guess, and only about what to show: the exit code says what came of a run.
 */

/** Colours and the like, which stand between words. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
const ESCAPE_SEQUENCE = /\u001b\[[0-9;?]*[ -/]*[@-~]/g;

const FAILURE = [
  /\b(?:FAIL(?:ED|URE|URES|ING)?|ERROR|ERRORS|FATAL|PANIC)\b/,
  /\b(?:[A-Z][A-Za-z]*)?(?:Error|Exception|Failure)\b/,
  /^\s*(?:error|fatal|panic|warning|undefined reference)\b/i,
  /^\s*(?:not ok|✖|✗|✘|×|❌|●)/,
  /^E {2,}\S/, // pytest
  /^---? FAIL/,
  /:\d+(?::\d+)?:?\s+(?:error|warning|fatal)\b/i, // compilers and linters
  /^\S+\.\w+:\d+:\d+:? \S/,
  /\(\d+,\d+\): (?:error|warning)\b/,
  /^\s+\d+:\d+\s+(?:error|warning)\b/, // eslint
  /^make(?:\[\d+\])?: \*\*\*/,
  /^Traceback \(most recent call last\)/,
  /\b(?:timed out|segmentation fault|core dumped|command not found|cannot find module|no such file)\b/i,
] as const;

/** As much of a line as is looked at. */
const CHARACTERS_LOOKED_AT = 1000;

/** Of a word such as `FAIL`. */
const SHORTEST = 4;

/** Whether `line` looks as if it told of a failure. */
export function looksLikeFailure(line: string): boolean {
  // a megabyte of empty lines is looked at in passing
  if (line.length < SHORTEST && !/[✖✗✘×❌●]/.test(line)) return false;
  const plain = plainText(line.slice(0, CHARACTERS_LOOKED_AT));
  return (
    (FAILURE.some((expression) => expression.test(plain)) || assertionFailed(plain)) && !NOTHING_FAILED.test(plain)
  );
}

/** In two steps, because one expression would begin again at each of many `assert`. */
function assertionFailed(line: string): boolean {
  const at = line.search(/\bassert(?:ion)?\b/i);
  return at !== -1 && /\bfail(?:ed)?\b/i.test(line.slice(at));
}

/** Sums that say how many failed, when none did. */
const NOTHING_FAILED =
  /^\W*(?:0 (?:failed|failures|errors|failing|fail)\b|(?:fail|failed|failures|errors)\W+0\b)[^1-9]*$/i;

/** `text` without escape sequences. */
export function plainText(text: string): string {
  return text.replace(ESCAPE_SEQUENCE, "");
}
