/** The section `tasks` of `handrail.yaml`: where tasks that agents create for others are kept. */
import * as z from "zod";
import { PATH_NAMES_MAX } from "../../model/place/workspace.ts";

/** Characters of the directory's path. */
const DIRECTORY_CHARACTERS_MAX = 1024;

/** The section; absent: agents cannot create tasks. */
export const taskSettings = z.strictObject({
  /** A directory of the workspace, relative to its root. */
  directory: z
    .string()
    .min(1)
    .max(DIRECTORY_CHARACTERS_MAX)
    .refine((path) => !path.startsWith("/") && isPlain(path), "must be a path in the workspace, without `..`"),
});

/** The section as it was written. */
export type TaskSettings = z.infer<typeof taskSettings>;

function isPlain(path: string): boolean {
  const names = path.replace(/\/+$/, "").split("/");
  return names.length <= PATH_NAMES_MAX && names.every((name) => name !== "" && name !== "." && name !== "..");
}
