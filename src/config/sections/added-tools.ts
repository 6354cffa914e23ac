/** The sections `plugins` and `tasks` of `handrail.yaml`, which add tools: modules of the operator's, and tasks. */
import * as z from "zod";
import { PATH_NAMES_MAX } from "../../model/place/workspace.ts";

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
