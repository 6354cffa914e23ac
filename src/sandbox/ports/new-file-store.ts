/**
 * Port: the directories in which kernels make files that replace others, or that they make to be filled.
 *
 * They outlive a killed kernel, so that the next one knows where to look for what it left.
 */

/** A directory: its real path, and which directory that was. */
export interface NewFilePlace {
  readonly path: string;
  /** Decimal, as they do not fit into a number. */
  readonly dev: string;
  readonly ino: string;
  /** The kernel made the directory itself, to be filled: left empty, it is to go. */
  readonly isMade?: true;
}

/** A store of such directories. Failures are `KernelError`s with `STORE_UNAVAILABLE`. */
export interface NewFileStore {
  /** Notes for this instance that files are made in a directory, or that it was made. */
  readonly note: (place: NewFilePlace) => void;
  /** Instances that have noted anything. */
  readonly instances: () => Promise<readonly string[]>;
  /** What an instance has noted. */
  readonly placesOf: (instanceId: string) => Promise<readonly NewFilePlace[]>;
  /** Forgets what an instance has noted. INVARIANT: it is dead. */
  readonly forget: (instanceId: string) => Promise<void>;
  readonly close: () => Promise<void>;
}
