/** Defines what the threads of components are told, and what they answer. */
import type { Prepared } from "./prepare-component.ts";

/** What a thread is started for. */
export type ComponentTask =
  | { readonly kind: "prepare"; readonly bytes: Uint8Array; readonly memoryBytes: number; readonly readsFiles: boolean }
  | { readonly kind: "run"; readonly prepared: Prepared };

/** One call. */
export interface ComponentCall {
  /** The arguments as JSON. */
  readonly args: string;
  /** By the path that the arguments name: the bytes, or why there are none. */
  readonly files: ReadonlyMap<string, Uint8Array | string>;
  readonly outputBytes: number;
}

/** What a component says of itself: texts of a stranger. */
export interface DescribedComponent {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: string;
}

/** An answer. `said` is the component's own error; `failed` is that it broke. */
export type ComponentReply =
  | { readonly kind: "prepared"; readonly prepared: Prepared; readonly described: DescribedComponent }
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "too_large" }
  | { readonly kind: "said" | "failed"; readonly problem: string };
