/**
 * Labels a result by its tool's declaration, its sources' labels and the secrets found in it.
 *
 * INVARIANT: a finding raises the data class and nothing lowers it. What a finding hid was not seen, so the mark of the
 * principal rises only by what was shown.
 */
import { isoTime } from "../base/clock.ts";
import {
  combineMarks,
  type DataClass,
  higherClass,
  type Label,
  lowerTrust,
  type Mark,
} from "../model/outcome/label.ts";
import type { ToolCapability } from "../model/tool/capability.ts";

/** How many secrets were found in a result, all of them hidden. */
export interface FoundSecrets {
  readonly definite: number;
  readonly probable: number;
}

/** Nothing was found. */
export const NOTHING_FOUND: FoundSecrets = { definite: 0, probable: 0 };

/** A result's label, and what the principal has seen by it. */
export interface LabelledResult {
  readonly label: Label;
  readonly seen: Mark;
}

/** What decides about a result's label. */
export interface ResultOrigin {
  readonly tool: { readonly name: string; readonly capability: Pick<ToolCapability, "effect" | "labels"> };
  /** Of the principal before the call: what a command prints is trusted no further than what went into it. */
  readonly mark: Mark;
  /** Labels of stored content that the result was made from. */
  readonly sources: readonly Mark[];
  readonly found: FoundSecrets;
  readonly nowMs: number;
}

/** Labels a result of a tool. */
export function labelResult({ tool, mark, sources, found, nowMs }: ResultOrigin): LabelledResult {
  const { effect, labels } = tool.capability;
  const declared: Mark = {
    trustLevel: labels?.outputTrust ?? "untrusted",
    dataClass: labels?.outputDataClass ?? "internal",
  };
  const trusted =
    effect === "exec" ? { ...declared, trustLevel: lowerTrust(declared.trustLevel, mark.trustLevel) } : declared;
  const seen = sources.reduce(combineMarks, trusted);
  const label: Label = {
    trustLevel: seen.trustLevel,
    dataClass: higherClass(seen.dataClass, classOf(found)),
    source: { origin: `tool:${tool.name}`, timestamp: isoTime(nowMs) },
  };
  return { label, seen };
}

function classOf({ definite, probable }: FoundSecrets): DataClass {
  if (definite > 0) return "secret";
  return probable > 0 ? "sensitive" : "public";
}
