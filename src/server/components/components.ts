/**
 * Brings components to a kernel and looks after their folder.
 *
 * The code that runs them is loaded where there are any.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Tool } from "../../model/tool/tool.ts";
import type { OperatorDirectory } from "../operator/operator-directory.ts";
import { RepeatedLook } from "../reload/repeated-look.ts";
import type { ComponentEvidence } from "./component-evidence.ts";
import type { ComponentFolder, RefusedFile } from "./component-folder.ts";
import type { ComponentReload, ComponentReloadParts } from "./component-reload.ts";

/** What looking after the folder needs, and who hears of failures. */
export interface WatchParts extends ComponentReloadParts {
  readonly onInternalError: (error: unknown) => void;
}

/** The components of one kernel. */
export class Components {
  readonly #directory: string;
  #folder: ComponentFolder | undefined;
  #refused: readonly RefusedFile[] = [];
  #reload: ComponentReload | undefined;
  readonly #looks = new RepeatedLook();

  private constructor(operator: Pick<OperatorDirectory, "path">) {
    this.#directory = join(operator.path, "components");
  }

  /**
   * Loads the components that are there, if the folder is.
   * @param isTaken whether a tool of another source has that name
   * @throws KernelError CONFIG_INVALID where the folder is not the operator's alone, or holds too many
   */
  static async open(
    operator: Pick<OperatorDirectory, "path" | "settings">,
    isTaken: (name: string) => boolean,
  ): Promise<Components> {
    const opened = new Components(operator);
    if (!existsSync(opened.#directory)) return opened;
    const folder = await opened.#opened();
    const plan = await folder.plan(operator.settings.components, isTaken);
    plan.commit();
    opened.#refused = plan.refused;
    return opened;
  }

  /** The tools in force. */
  get tools(): readonly Tool[] {
    return this.#folder?.tools ?? [];
  }

  /** Records what was loaded and refused at the start. @param tell told of each that was refused */
  async recordStart(evidence: ComponentEvidence, tell: (message: string) => void): Promise<void> {
    if (this.#folder === undefined) return;
    const { recordPlan, refusalLine } = await import("./component-evidence.ts");
    await recordPlan(evidence, { loaded: this.#folder.loaded, withdrawn: [], refused: this.#refused });
    for (const one of this.#refused) tell(refusalLine(one));
  }

  /** Looks after the folder from now on. A failure that lasts is told once. */
  watch(parts: WatchParts): void {
    this.#looks.begin({ look: () => this.#look(parts), onInternalError: parts.onInternalError });
  }

  /** Ends. A thread at work ends with its call. */
  readonly close = (): void => {
    this.#looks.close();
    this.#folder?.close();
  };

  async #look(parts: WatchParts): Promise<void> {
    if (this.#folder === undefined && !existsSync(this.#directory)) return;
    if (this.#reload === undefined) {
      const { ComponentReload: Reload } = await import("./component-reload.ts");
      this.#reload = new Reload(await this.#opened(), parts, this.#refused);
    }
    await this.#reload.look();
  }

  async #opened(): Promise<ComponentFolder> {
    const { ComponentFolder: Folder } = await import("./component-folder.ts");
    this.#folder ??= new Folder(this.#directory);
    return this.#folder;
  }
}
