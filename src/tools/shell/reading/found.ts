/** Defines what reading a shell command finds: commands, files and hosts. */
import type { CommandResource } from "../../../model/place/command.ts";

/** A file that a redirection touches. */
export interface TouchedFile {
  readonly path: string;
  readonly effect: "read" | "write";
}

/** Everything that was found. */
export interface Found {
  readonly commands: readonly CommandResource[];
  readonly files: readonly TouchedFile[];
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
}
