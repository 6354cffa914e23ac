/** The sections `plugins`, `components` and `tasks` of `handrail.yaml`, which add tools. */
import * as z from "zod";
import { PATH_NAMES_MAX } from "../../../model/place/workspace.ts";

/** Modules that one kernel loads. */
const PLUGINS_MAX = 64;
/** Characters of a module's path. */
const PATH_CHARACTERS_MAX = 1024;

/** The section `plugins`. */
export const pluginSettings = z
  .array(
    z.strictObject({
      /** Path from the operator's directory. */
      module: z.string().min(1).max(PATH_CHARACTERS_MAX),
      /** Whether it runs in the kernel's own thread; else it runs in threads of its own. */
      in_process: z.boolean().default(false),
    }),
  )
  .max(PLUGINS_MAX)
  .default([]);

/** Characters of the directory's path. */
const DIRECTORY_CHARACTERS_MAX = 1024;

/** The section `tasks`; absent: agents cannot create tasks. */
export const taskSettings = z.strictObject({
  /** A directory of the workspace, relative to its root. */
  directory: z
    .string()
    .min(1)
    .max(DIRECTORY_CHARACTERS_MAX)
    .refine((path) => !path.startsWith("/") && isPlain(path), "must be a path in the workspace, without `..`"),
});

/** The section `tasks` as it was written. */
export type TaskSettings = z.infer<typeof taskSettings>;

function isPlain(path: string): boolean {
  const names = path.replace(/\/+$/, "").split("/");
  return names.length <= PATH_NAMES_MAX && names.every((name) => name !== "" && name !== "." && name !== "..");
}

const MIB = 1_048_576;
/** Components that the operator lists, and arguments of one that are paths. */
const COMPONENTS_MAX = 64;
const PATH_ARGUMENTS_MAX = 8;

/** A name of a component's file, without `.wasm`. */
export const COMPONENT_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

const component = z.strictObject({
  /** Arguments that are paths of files, which the component may read. */
  path_arguments: z.array(z.string().min(1).max(64)).max(PATH_ARGUMENTS_MAX).default([]),
  time_ms: z.int().min(10).max(600_000).default(10_000),
  memory_bytes: z
    .int()
    .min(MIB)
    .max(1024 * MIB)
    .default(64 * MIB),
  output_bytes: z
    .int()
    .min(1)
    .max(16 * MIB)
    .default(MIB),
  /** The only file that is loaded: BLAKE3 of its bytes. */
  digest: z
    .string()
    .regex(/^blake3:[0-9a-f]{64}$/, "must be `blake3:` and 64 hexadecimal digits")
    .optional(),
});

/** What one component may use. */
export type ComponentSettings = z.infer<typeof component>;

/** By the file's name without `.wasm`. */
export const componentsSettings = z
  .record(z.string().regex(COMPONENT_NAME, "must be a file's name without `.wasm`"), component)
  .refine((entries) => Object.keys(entries).length <= COMPONENTS_MAX, `at most ${COMPONENTS_MAX} components`)
  .default({});

/** What a component without an entry may use. */
export const PLAIN_COMPONENT: ComponentSettings = component.parse({});
