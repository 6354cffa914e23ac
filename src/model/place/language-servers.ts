/** Defines what the operator says of language servers. */

/** A server that the operator names. */
export interface ChosenLanguageServer {
  readonly name: string;
  readonly command: readonly string[];
  /** Extensions with their dot, and what the protocol calls their language. */
  readonly extensions: Readonly<Record<string, string>>;
}

/** Whether language servers are asked, and which. */
export interface LanguageServerSettings {
  readonly enabled: boolean;
  /** Megabytes of memory of each. */
  readonly memoryMb: number;
  readonly servers: readonly ChosenLanguageServer[];
}
