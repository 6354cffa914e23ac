/** How the handles of a running call ask about files that its analysis did not name one by one. */
import type { WorkspacePath } from "../model/access.ts";
import type { Denial } from "../model/decision.ts";
import type { Zone } from "../model/zone.ts";

/** Judges, by policy, a file that turned out to be another one than the path said. */
export type PolicyJudge = (place: WorkspacePath, effect: "read" | "write") => Denial | undefined;

/** Whether a file of a tree may be read outright. */
export type TreeJudge = (place: WorkspacePath, zone: Zone) => boolean;
