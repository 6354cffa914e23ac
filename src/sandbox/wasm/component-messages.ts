/** Defines what the processes and threads of components are told, and what they answer. */
import type { ToolFailureCode } from "../../model/outcome/failure.ts";
import type { Prepared } from "./prepare-component.ts";
import type { CoreModule } from "./web-assembly.ts";

/** A component whose modules are compiled; threads share them. */
export interface Compiled extends Omit<Prepared, "cores"> {
  readonly modules: ReadonlyMap<string, CoreModule>;
}

/** What a thread is started for. */
export type ComponentTask =
  | { readonly kind: "prepare"; readonly bytes: Uint8Array; readonly memoryBytes: number; readonly readsFiles: boolean }
  | { readonly kind: "run"; readonly compiled: Compiled };

/** What a thread that runs a component is asked: what it says of itself, or one call. */
export type ComponentQuestion = "describe" | ComponentCall;

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
  | { readonly kind: "prepared"; readonly prepared: Prepared }
  | { readonly kind: "described"; readonly described: DescribedComponent }
  | { readonly kind: "done"; readonly text: string }
  | { readonly kind: "too_large" }
  | { readonly kind: "said" | "failed"; readonly problem: string };

/** Bounds of each call. */
export interface ComponentLimits {
  readonly timeMs: number;
  readonly memoryBytes: number;
  readonly outputBytes: number;
}

/** What a process is told: to prepare a component and say what it is, or to run a prepared one, and then its calls. */
export type HostRequest =
  | {
      readonly kind: "prepare";
      readonly bytes: Uint8Array;
      readonly limits: ComponentLimits;
      readonly readsFiles: boolean;
    }
  | { readonly kind: "start"; readonly prepared: Prepared; readonly limits: ComponentLimits }
  | { readonly kind: "call"; readonly id: number; readonly args: string; readonly files: ComponentCall["files"] }
  | { readonly kind: "cancel"; readonly id: number };

/** What a process answers. */
export type HostReply =
  | { readonly kind: "prepared"; readonly prepared: Prepared; readonly described: DescribedComponent }
  | { readonly kind: "refused"; readonly problem: string }
  | { readonly kind: "answer"; readonly id: number; readonly text: string }
  | {
      readonly kind: "failure";
      readonly id: number;
      readonly code: ToolFailureCode;
      readonly problem: string;
      readonly next: string;
    };
