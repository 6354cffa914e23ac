/**
 * Trusting workspaces: the operator pins the configuration files of one, byte for byte. Pins lie in the operator's own
 * directory, one file each, which no agent can reach: it is hidden in every workspace.
 *
 * INVARIANTS: what is pinned is exactly what was read and shown; trust is recorded before it holds; two commands at
 * once cannot lose each other's pins.
 */

import { lstatSync, statSync } from "node:fs";
import { mkdir, rename, rm, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { configInvalid, KernelError, usageError } from "../../base/errors.ts";
import { newId, type RandomBytes } from "../../base/ids.ts";
import type { JsonObject } from "../../base/json.ts";
import { wideningKeys } from "../../config/config.ts";
import {
  type FileDigests,
  pinFileName,
  printPin,
  type TrustState,
  trustStateOf,
  type WorkspacePin,
} from "../../config/trust.ts";
import { BY_OPERATOR } from "../../ledger/actors.ts";
import type { EventSink, EventType } from "../../model/outcome/event.ts";
import { writeNewFile } from "../../stores/embedded/state/own-file.ts";
import {
  readOperatorDirectory,
  requireOwnerOnly,
  TRUST_DIRECTORY,
  TRUSTED_WORKSPACES_MAX,
} from "../operator/operator-directory.ts";
import { realPath } from "../operator/real-path.ts";
import { workspaceDirectory } from "./workspace-catalog.ts";
import { readWorkspaceConfiguration } from "./workspace-settings.ts";

/** What trusting works on. */
export interface TrustParts {
  readonly operatorPath: string;
  readonly ledger: EventSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/** A workspace and how its files stand to its pin. */
export interface TrustReport {
  readonly workspace: string;
  readonly state: TrustState | "unreadable";
  readonly files: FileDigests | WorkspacePin["files"];
  /** Keys of its own configuration that take effect only with trust. */
  readonly widens: readonly string[];
  readonly trustedAt?: string;
  readonly trustedBy?: string;
}

/** The operator's acts of trust. */
export class TrustDesk {
  readonly #parts: TrustParts;

  constructor(parts: TrustParts) {
    this.#parts = parts;
  }

  /** Pins the configuration files of a workspace as they are now. @throws KernelError when they are not valid */
  async trust(path: string, by: string): Promise<TrustReport> {
    const workspace = workspaceDirectory(path);
    const { settings, digests, flow } = await readWorkspaceConfiguration(workspace);
    if (Object.values(digests).every((digest) => digest === null))
      throw usageError(`\`${workspace}\` has no configuration of its own, so there is nothing to trust`);
    const pins = await this.#pins();
    if (pins.length >= TRUSTED_WORKSPACES_MAX && trustStateOf(pins, workspace, digests) === "untrusted")
      throw usageError(
        `${TRUSTED_WORKSPACES_MAX} workspaces are trusted already; revoke one with \`handrail trust --revoke\``,
      );
    const trustedAt = new Date(this.#parts.clock.nowMs()).toISOString();
    const widens = wideningKeys(settings, flow?.config);
    const directory = await this.#directory();
    await this.#record("workspace_trusted", { workspace, files: digests, widens, by });
    await this.#write(directory, { version: 1, workspace, files: { ...digests }, trustedAt, trustedBy: by });
    return { workspace, state: "trusted", files: digests, widens, trustedAt, trustedBy: by };
  }

  /** Takes trust back; the workspace may be gone meanwhile. */
  async revoke(path: string, by: string): Promise<TrustReport> {
    const workspace = realPath(path);
    const pin = (await this.#pins()).find((candidate) => candidate.workspace === workspace);
    if (pin === undefined)
      throw usageError(`\`${workspace}\` is not trusted; \`handrail trust --list\` shows the workspaces that are`);
    await unlink(join(this.#parts.operatorPath, TRUST_DIRECTORY, pinFileName(workspace)));
    await this.#record("workspace_trust_revoked", { workspace, files: pin.files, by });
    return { workspace, state: "untrusted", files: pin.files, widens: [] };
  }

  /** Every pinned workspace, and whether its files are still what was pinned. */
  async list(): Promise<readonly TrustReport[]> {
    return trustReports(await this.#pins());
  }

  async #pins(): Promise<readonly WorkspacePin[]> {
    return (await readOperatorDirectory(this.#parts.operatorPath)).trusted ?? [];
  }

  /** The directory of pins, made if it is missing. */
  async #directory(): Promise<string> {
    const { operatorPath } = this.#parts;
    const directory = join(operatorPath, TRUST_DIRECTORY);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (lstatSync(directory).isSymbolicLink() || !statSync(directory).isDirectory())
      throw configInvalid(`\`${directory}\` must be a directory and no link; remove it`);
    for (const path of [operatorPath, directory]) requireOwnerOnly(path);
    return directory;
  }

  async #write(directory: string, pin: WorkspacePin): Promise<void> {
    const unnamed = join(directory, `${newId("cal", this.#parts.random)}.new`);
    await writeNewFile(unnamed, printPin(pin));
    try {
      await rename(unnamed, join(directory, pinFileName(pin.workspace)));
    } catch (error) {
      await rm(unnamed, { force: true });
      throw error;
    }
  }

  async #record(type: EventType, payload: JsonObject): Promise<void> {
    const event = { type, ...BY_OPERATOR, timeMs: this.#parts.clock.nowMs(), payload };
    await this.#parts.ledger.record(event, "durable");
  }
}

/** How the files of each pinned workspace stand to its pin. */
export function trustReports(pins: readonly WorkspacePin[]): Promise<readonly TrustReport[]> {
  return Promise.all(pins.map((pin) => reportOf(pins, pin)));
}

async function reportOf(pins: readonly WorkspacePin[], pin: WorkspacePin): Promise<TrustReport> {
  const { workspace, files, trustedAt, trustedBy } = pin;
  try {
    const { settings, digests, flow } = await readWorkspaceConfiguration(workspace);
    return {
      workspace,
      state: trustStateOf(pins, workspace, digests),
      files,
      widens: wideningKeys(settings, flow?.config),
      trustedAt,
      trustedBy,
    };
  } catch (error) {
    if (!(error instanceof KernelError)) throw error;
    return { workspace, state: "unreadable", files, widens: [], trustedAt, trustedBy };
  }
}
