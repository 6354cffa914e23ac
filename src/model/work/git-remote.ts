/**
 * Defines the reach of one git run to a remote, its limits, and the credential that the kernel adds.
 *
 * INVARIANT: a credential is for one host, one port and, where the operator says so, one part of that host's paths. The
 * kernel adds it to requests that it has judged, and never hands it to the caller.
 */

import { GIT_RECEIVED_MB, GIT_WRITTEN_MB } from "../../base/limits.ts";

/** The two things that a remote does for git. */
export type GitService = "git-upload-pack" | "git-receive-pack";

/** A remote as one run of git may reach it. */
export interface GitRemoteReach {
  /** As git is given it or finds it in its settings: `https://host/owner/name.git`. */
  readonly address: string;
  /** In its one form. */
  readonly host: string;
  readonly port: number;
  /** From `/` on, as the address has it. */
  readonly path: string;
  readonly service: GitService;
  /** It is asked what it has, and nothing is sent or fetched. */
  readonly asksOnly?: true;
}

/** Where a credential is asked for. */
export type GitRemotePlace = Pick<GitRemoteReach, "host" | "port" | "path">;

/** What one operation may take from a remote. */
export interface GitRemoteLimits {
  readonly receivedBytesMax: number;
  /** Of all files together. */
  readonly writtenBytesMax: number;
}

/** What holds where the operator says nothing. */
const DEFAULT_LIMITS: GitRemoteLimits = {
  receivedBytesMax: GIT_RECEIVED_MB * 2 ** 20,
  writtenBytesMax: GIT_WRITTEN_MB * 2 ** 20,
};

/** What the operator knows of remotes. */
export interface GitRemotes {
  readonly limits: GitRemoteLimits;
  /**
   * The value of `Authorization` for a remote; `undefined` where the operator names none.
   * @throws ToolFailure for one that is named and cannot be read
   */
  readonly authorization: (place: GitRemotePlace) => string | undefined;
  /** Authorities that are believed beside those of the machine, as PEM. @throws ToolFailure when they cannot be read */
  readonly authorities: () => string | undefined;
}

/** An operator who says nothing of remotes. */
export const NO_GIT_REMOTES: GitRemotes = {
  limits: DEFAULT_LIMITS,
  authorization: () => undefined,
  authorities: () => undefined,
};

/** Whether `path` lies at or below `prefix`; a path that a server could read otherwise lies nowhere. */
export function liesBelow(path: string, prefix: string): boolean {
  const parts = partsOf(path);
  const wanted = partsOf(prefix);
  if (parts.some((part) => part === "" || part === "." || part === ".." || part.includes("%"))) return false;
  return wanted.length <= parts.length && wanted.every((part, index) => part === parts[index]);
}

function partsOf(path: string): readonly string[] {
  return path.replace(/^\//, "").replace(/\/$/, "").split("/");
}
