/** Lands what a command changed in its view, once it has ended. */
import { ToolFailure } from "../../model/outcome/failure.ts";
import type { ExecLanded } from "../../model/work/exec.ts";
import type { NewFiles } from "../files/new-files.ts";
import type { LandingTerms, Review } from "../landing/land-view.ts";
import type { ScopeJudge } from "../plan/workspace-mounts.ts";
import type { RunEnd } from "../run/launch.ts";
import type { View } from "./views.ts";

/** How what a command changed lands. */
export interface SandboxLanding {
  readonly newFiles: NewFiles;
  /** Keeps what stood there before; nothing is kept when absent. */
  readonly keeping?: LandingTerms["keeping"];
  /** Awaited before; what it throws keeps everything from landing. */
  readonly before?: () => Promise<void>;
  /** Judges what lands, where that is not what the command may write in its view. */
  readonly judge?: ScopeJudge;
  /** Where something of it may not land, nothing does. */
  readonly isWhole?: true;
  /** Told of everything that has landed. */
  readonly onLanded?: LandingTerms["onLanded"];
  /** The file by which other programs lock one that lands, where they do. */
  readonly lockOf?: (path: string) => string | undefined;
  /** Asks a person about effects that land once somebody agrees; without it they do not land. */
  readonly review?: Review;
  /** Files that have to be as they were when the view began, with their text, where anything lands. */
  readonly unchanged?: LandingTerms["unchanged"];
  /** What else has to stand where anything lands. */
  readonly ground?: LandingTerms["ground"];
  /** Whether anything lands after such an end; after every one when absent. */
  readonly wants?: (end: RunEnd) => boolean;
  /** Bytes that the command may write in its view; it is ended when they are more. */
  readonly bytesMax?: number;
}

/** How a run ended, and who may cancel what comes of it. */
interface EndedRun {
  readonly end: RunEnd & { readonly problem?: Error };
  readonly signal: AbortSignal;
}

/**
 * Lands what a run has changed. Of one that was cancelled, or whose end nobody knows, nothing is: whoever asked for it
 * has gone, or something may still write.
 */
export async function landed(
  view: View | undefined,
  { judge, landing }: { readonly judge: ScopeJudge; readonly landing?: SandboxLanding },
  { end, signal }: EndedRun,
): Promise<{ readonly landed?: ExecLanded; readonly endedBy?: "cancelled"; readonly problem?: ToolFailure }> {
  if (view === undefined || landing === undefined || end.problem !== undefined || end.endedBy === "cancelled")
    return {};
  if (landing.wants?.(end) === false) return {};
  await landing.before?.();
  if (signal.aborted) return { endedBy: "cancelled" };
  const ended = await view.land({ judge, ...landing }, signal).catch(failed);
  if (ended instanceof ToolFailure) return { problem: ended };
  const { isCut, isAwaited, ...landed } = ended;
  if (isAwaited === true) return {};
  return isCut ? { landed, endedBy: "cancelled" } : { landed };
}

/** The command has run all the same: what is known of it is not lost. */
function failed(error: unknown): ToolFailure {
  if (error instanceof ToolFailure) return error;
  throw error;
}
