/**
 * Defines the findings of `handrail doctor`: one for each check that went well, and one for each problem.
 *
 * INVARIANT: a finding that is not `ok` says what mends it.
 */
import { FileError } from "../../base/errors.ts";
import { type Mistake, placedMistakes } from "./mistakes.ts";

/** What every finding says. */
interface Said {
  readonly check: string;
  readonly detail: string;
}

/**
 * One finding. `skipped`: it cannot be looked at before another one is mended. Line and column start at 1; `snippet` is
 * the line, or says that it is hidden because of a secret.
 */
export type Finding = Said &
  (
    | { readonly status: "ok" }
    | ({ readonly status: "failed" | "advisory" | "skipped"; readonly fix: string } & Partial<Mistake["place"]>)
  );

/** A finding without its check. */
export type Found<One = Finding> = One extends Finding ? Omit<One, "check"> : never;

/**
 * What `work` finds: a text says that all is well, and what it throws is a fault, which `fix` mends unless it says so.
 */
export async function attempt(
  check: string,
  fix: string,
  work: () => string | Found | Promise<string | Found>,
): Promise<Finding> {
  try {
    const found = await work();
    return typeof found === "string" ? { check, status: "ok", detail: found } : { check, ...found };
  } catch (error) {
    return faultOf(check, error instanceof Error ? error.message : String(error), fix);
  }
}

/** As `attempt`, for checks that find several things; a file with several problems is as many findings. */
export async function attemptMany(
  { check, fix, directory }: { readonly check: string; readonly fix: string; readonly directory: string },
  work: () => Promise<string | readonly Found[]>,
): Promise<readonly Finding[]> {
  try {
    const found = await work();
    return typeof found === "string"
      ? [{ check, status: "ok", detail: found }]
      : found.map((one) => ({ check, ...one }));
  } catch (error) {
    if (!(error instanceof FileError)) return [await attempt(check, fix, () => Promise.reject(error))];
    return (await placedMistakes(error.problems, directory)).map((mistake) => mistakeFinding(check, mistake, fix));
  }
}

/** A mistake in a file as a fault. */
export function mistakeFinding(check: string, { message, place }: Mistake, fix: string): Finding {
  return { ...faultOf(check, message, fix), ...place };
}

/** A fault in words of the house: what is wrong, and behind the last semicolon what to do next, else `fix`. */
export function faultOf(check: string, message: string, fix: string): Finding {
  return { check, status: "failed", ...adviceIn(message, fix) };
}

/** What is wrong, and what mends it, of a message that says both. */
export function adviceIn(message: string, fix: string): { readonly detail: string; readonly fix: string } {
  const end = message.lastIndexOf("; ");
  if (end === -1) return { detail: message, fix };
  return { detail: message.slice(0, end), fix: message.slice(end + 2) };
}
