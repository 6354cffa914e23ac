/** Defines what an import makes of another system's configuration: files of the operator's, and what it left out. */

/** A file for the operator's directory. */
export interface ImportedFile {
  /** Path from the operator's directory. */
  readonly path: string;
  readonly text: string;
}

/** What the configuration says that was not carried over, or means something else here. */
export interface LeftOut {
  /** Where it stands, such as `agents.tools.shell.allowlist[3]`. */
  readonly where: string;
  readonly why: string;
}

/** What one configuration became. Nothing in it allows anything: its policies only forbid, its modes only narrow. */
export interface Imported {
  readonly files: readonly ImportedFile[];
  readonly left: readonly LeftOut[];
}

/** Systems whose configuration is read. */
export const IMPORT_SOURCES = ["brio", "flow", "serverd"] as const;
/** One of them. */
export type ImportSource = (typeof IMPORT_SOURCES)[number];
