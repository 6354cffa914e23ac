/**
 * Takes over changes of the operator's folder of components while the kernel runs.
 *
 * A look compares names and states of files. What has changed and is quiet is read, loaded in a thread, and described;
 * then policies are prepared for the tools that there will be, it is recorded, and all of it takes effect in one step.
 *
 * INVARIANTS: nothing serves before it is recorded; whatever fails, what was in force stays. A failed look is tried
 * again.
 */
import type { ToolRegistry } from "../../kernel/index.ts";
import type { Tool } from "../../model/tool/tool.ts";
import { ownTools } from "../operator/built-in-tools.ts";
import { directoryState } from "../operator/configuration-state.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { quietState, refusalOf } from "../reload/quiet-files.ts";
import { type TakeOverParts, takeOver } from "../reload/take-over.ts";
import { linesOf, recordPlan, refusalLine } from "./component-evidence.ts";
import type { ComponentFolder, FolderPlan, RefusedFile } from "./component-folder.ts";

/** What a reload of components works on. */
export interface ComponentReloadParts extends TakeOverParts {
  /** The configuration in force. */
  readonly live: { readonly operator: OperatorDirectory };
  /** All declared tools where those are the components; and the names of the others. */
  readonly declaredWith: (components: readonly Tool[]) => ToolRegistry;
  readonly isOthers: (name: string) => boolean;
  /** Does work while no other reload is under way. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  readonly tell: (message: string) => void;
}

/** The reload of one kernel's components. */
export class ComponentReload {
  readonly #folder: ComponentFolder;
  readonly #parts: ComponentReloadParts;
  /** State of the files that was last judged, and by which configuration. */
  #seen: { readonly state: string | undefined; readonly operator: OperatorDirectory } | undefined;
  /** By file: the refusal that the operator was last told of. */
  readonly #told = new Map<string, string>();

  constructor(folder: ComponentFolder, parts: ComponentReloadParts, refused: readonly RefusedFile[] = []) {
    this.#folder = folder;
    this.#parts = parts;
    for (const { file, problem } of refused) this.#told.set(file, problem);
  }

  /** Looks once, and takes over what has changed. @throws what failed; the next look tries again */
  async look(): Promise<void> {
    const { operator } = this.#parts.live;
    const before = await this.#state();
    if (before === this.#seen?.state && operator === this.#seen.operator) return;
    const state = await quietState(() => this.#state(), before);
    const problem = await this.#lookAt(operator).catch(refusalOf);
    if (problem !== undefined && this.#told.get("") !== problem) {
      this.#parts.tell(`the changed components are refused, and what was loaded stays: ${problem}`);
      this.#told.set("", problem);
    }
    this.#seen = { state, operator };
  }

  async #lookAt(operator: OperatorDirectory): Promise<undefined> {
    const { live, alone, tell, isOthers } = this.#parts;
    const own = new Set(ownTools(operator.settings).map(({ name }) => name));
    const isTaken = (name: string) => own.has(name) || isOthers(name);
    const plan = await this.#folder.plan(operator.settings.components, isTaken);
    const fresh = plan.refused.filter(({ file, problem }) => this.#told.get(file) !== problem);
    let isDone = false;
    try {
      await alone(async () => {
        if (live.operator !== operator) return; // the next look plans by what is in force then
        await this.#putInForce(plan, fresh, operator);
        isDone = true;
      });
    } finally {
      if (!isDone) plan.drop();
    }
    if (!isDone) return;
    for (const one of fresh) tell(refusalLine(one));
    this.#told.clear();
    for (const { file, problem } of plan.refused) this.#told.set(file, problem);
  }

  async #putInForce(plan: FolderPlan, fresh: readonly RefusedFile[], operator: OperatorDirectory): Promise<void> {
    const { declaredWith, tell } = this.#parts;
    if (plan.loaded.length + plan.withdrawn.length === 0) {
      await recordPlan(this.#parts, { loaded: [], withdrawn: [], refused: fresh });
      return plan.commit();
    }
    await takeOver(this.#parts, {
      operator,
      declared: declaredWith(plan.tools),
      record: () => recordPlan(this.#parts, { ...plan, refused: fresh }),
      commit: plan.commit,
    });
    for (const line of linesOf(plan)) tell(line);
  }

  #state(): Promise<string> {
    return directoryState(this.#folder.directory, /\.wasm$/);
  }
}
