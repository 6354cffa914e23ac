/** A workspace that is copied step by step, for tests of what is copied and of what is found afterwards. */
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { copiedChanges } from "../../src/sandbox/copies/copied-changes.ts";
import type { CopyLimits } from "../../src/sandbox/copies/copy-limits.ts";
import { type Copied, copyWorkspace } from "../../src/sandbox/copies/copy-workspace.ts";
import { timeOf } from "../../src/sandbox/landing/file-clock.ts";
import { atOnce } from "../../src/sandbox/plan/workspace-mounts.ts";
import { makeFiles } from "./landing-fixture.ts";

/** A workspace of these files, beside a directory that is none of it. */
export function copiedPlace(files: Readonly<Record<string, string>>, at = tmpdir()) {
  const base = mkdtempSync(join(realpathSync(at), "handrail-copied-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [root, merged, upper, outside] = ["workspace", "merged", "upper", "outside"].map((name) => join(base, name));
  for (const directory of [root, merged, upper, outside]) mkdirSync(directory ?? "");
  const places = { root: root ?? "", merged: merged ?? "", upper: upper ?? "", outside: outside ?? "" };
  makeFiles(places.root, files);
  const descriptors = [openSync(places.root, "r"), openSync(places.merged, "r")] as const;
  onTestFinished(() => descriptors.forEach((one) => void closeSync(one)));
  const steps = (hidden: readonly string[] = [], limits?: CopyLimits) =>
    copyWorkspace({ root: descriptors[0], into: descriptors[1], hidden: new Set(hidden), limits });
  return {
    ...places,
    /** The steps of copying. */
    steps,
    copy(hidden: readonly string[] = []): Copied {
      const copied = atOnce(steps(hidden));
      timeOf(base);
      return copied;
    },
    /** What is found to have changed, by path. */
    changes({ manifest }: Copied, sinceNs?: bigint) {
      const unlike = sinceNs === undefined ? undefined : { root: descriptors[0], sinceNs };
      const copy = { merged: places.merged, manifest, unlike };
      const found = atOnce(copiedChanges(copy, { upper: places.upper, pathBytesMax: 3000 }));
      return Object.fromEntries(found.map((change) => [change.path, change]));
    },
  };
}
