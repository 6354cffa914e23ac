/**
 * Lends a plugin its context for one call, in meao's shape.
 *
 * INVARIANT: once the call has ended, no handle does anything any more, whoever kept it.
 */
import { Refusal, ToolFailure } from "../../model/outcome/failure.ts";
import type { ToolContext } from "../../model/tool/tool.ts";
import { shownText } from "../kit/shown-output.ts";
import type { ContainerOptions, ContainerResult, PluginContext } from "./plugin.ts";

/** Milliseconds of a command that says nothing of its time (meao). */
const COMMAND_MS = 120_000;
/** Events that one call may note. */
const NOTES_MAX = 1000;

/** Whose context it is. */
interface Borrower {
  readonly name: string;
  /** Whether it says what it will touch. */
  readonly isAnalysed: boolean;
}

/** The context of one call of a plugin. */
export class LeasedContext {
  readonly context: PluginContext;
  readonly #own: ToolContext;
  readonly #borrower: Borrower;
  #isOver = false;
  #notes = 0;

  constructor(own: ToolContext, borrower: Borrower) {
    this.#own = own;
    this.#borrower = borrower;
    const { requestId, sessionId, userId, agentId, role, workDir, serviceRoot, projectRoot, signal } = own;
    this.context = {
      ...{ requestId, sessionId, userId, agentId, role, workDir, serviceRoot, projectRoot, signal },
      approvals: [...own.approvals],
      allowedCommands: [...own.allowedCommands],
      accessToken: own.accessToken,
      sandbox: { runContainer: (options) => this.#runContainer(options) },
      audit: {
        log: async (category, event, { severity, metadata } = {}) => {
          this.#require();
          this.#notes += 1;
          if (this.#notes > NOTES_MAX)
            throw new ToolFailure(
              "OUTPUT_LIMIT",
              `\`${borrower.name}\` notes more than ${NOTES_MAX} events`,
              "note less",
            );
          await own.audit.log(category, event, { ...(severity !== undefined && { severity }), ...metadata });
        },
      },
      files: this.#leased(() => own.files),
      search: this.#leased(() => own.search),
    };
  }

  /** Takes everything back. */
  end(): void {
    this.#isOver = true;
  }

  #require(): void {
    if (this.#isOver)
      throw new ToolFailure(
        "PERMISSION_DENIED",
        "the call has ended, and its handles with it",
        "answer when all is done",
      );
  }

  /** A handle that asks before each use whether the call still runs. */
  #leased<Handle extends object>(handle: () => Handle): Handle {
    return new Proxy({} as Handle, {
      get: (_, name) => {
        const member: unknown = Reflect.get(handle(), name);
        if (typeof member !== "function") return member;
        return (...args: readonly unknown[]) => {
          this.#require();
          this.#requireAnalysis();
          return Reflect.apply(member, handle(), args);
        };
      },
    });
  }

  /** A plugin that does not say what it will touch touches nothing. */
  #requireAnalysis(): void {
    const { name, isAnalysed } = this.#borrower;
    if (isAnalysed) return;
    throw new Refusal({
      layer: "scope",
      reason: "permission_denied",
      ruleId: `ANALYSE:${name}`,
      message: `\`${name}\` does not say what it will touch, so it gets no files and no commands; its author adds \`analyse\``,
    });
  }

  async #runContainer({
    command,
    workDir,
    timeout,
    maxOutputSize,
    networkMode = "none",
  }: ContainerOptions): Promise<ContainerResult> {
    this.#require();
    this.#requireAnalysis();
    if (networkMode !== "none")
      throw new ToolFailure("PERMISSION_DENIED", `the network mode \`${networkMode}\` is not granted`, "use `none`");
    const { exitCode, stdout, stderr, endedBy } = await this.#own.exec.run({
      command: { shell: command },
      timeoutMs: timeout ?? COMMAND_MS,
      ...(workDir !== undefined && workDir !== this.#own.workDir && { workDir }),
      ...(maxOutputSize !== undefined && { keptBytesMax: Math.max(1, Math.floor(maxOutputSize / 2)) }),
    });
    const isDone = exitCode !== undefined && endedBy === undefined;
    return {
      success: isDone && exitCode === 0,
      stdout: shownText(stdout),
      stderr: shownText(stderr),
      ...(isDone && { exitCode }),
    };
  }
}
