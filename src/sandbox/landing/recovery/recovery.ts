/** Takes back, or keeps, what killed kernels had begun to land. */
import { existsSync } from "node:fs";
import { removeTree } from "../../files/remove-tree.ts";
import { claimView, leftViews, type ViewNames, viewPlaces } from "../../layers/view-directories.ts";
import { keepInterrupted, type TakenBack, takeBackLanding } from "../journal.ts";

/** A landing that a killed kernel had begun. */
export interface Recovered extends Omit<TakenBack, "side"> {
  /** Where both sides are kept, if it could not be taken back as a whole. */
  readonly kept?: string;
}

/**
 * Takes back all that dead kernels had begun to land.
 * @param wanted where views are to lie, absolute; the machine's directory of temporary files when absent
 * @param report told of each that could not be looked at, which stays for the next time
 */
export async function recoverLandings(
  wanted: string | undefined,
  names: ViewNames,
  report: (error: unknown) => void,
): Promise<readonly Recovered[]> {
  const recovered: Recovered[] = [];
  for (const place of viewPlaces(wanted).filter((one) => existsSync(one)))
    for (const { path, isLanding } of await leftViews(place, names)) {
      if (!isLanding) continue;
      const one = await recover(path, names).catch((error: unknown) => void report(error));
      if (one !== undefined) recovered.push(one);
    }
  return recovered;
}

async function recover(path: string, names: ViewNames): Promise<Recovered | undefined> {
  const claimed = claimView(path, names);
  if (claimed === undefined) return undefined;
  const taken = takeBackLanding(claimed);
  const side = taken?.side;
  const isKept = taken !== undefined && taken.left.length > 0;
  const kept = isKept ? keepInterrupted(claimed, side) : undefined;
  for (const done of [side ?? [], kept === undefined ? claimed : []].flat()) await removeTree(done);
  return taken && { root: taken.root, left: taken.left, ...(kept !== undefined && { kept }) };
}
