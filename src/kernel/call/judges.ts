/** Defines how a running call's handles ask about files and artifacts that its analysis did not name. */

import type { Denial } from "../../model/outcome/decision.ts";
import type { WorkspacePath } from "../../model/place/access.ts";
import type { Zone } from "../../model/place/zone.ts";

/** Judges, by policy, a file that turned out to be another one than the path said. */
export type PolicyJudge = (place: WorkspacePath, effect: "read" | "write") => Denial | undefined;

/** Whether a file of a tree may be read outright. */
export type TreeJudge = (place: WorkspacePath, zone: Zone) => boolean;

/** Whether the call may read an artifact that it did not name: content was asked for by its hash. */
export type ArtifactJudge = (id: string) => boolean;
