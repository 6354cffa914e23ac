/** Makes the admin credential of a state directory, as `handrail admin token` does; the ledger says when. */
import { systemRandom } from "../../base/ids.ts";
import { openKernel } from "../compose.ts";
import type { Environment } from "../operator/operator-directory.ts";
import { makeAdminCredential } from "../people/admin-credential.ts";

/** Makes a new credential and returns it; recorded before it can be used. */
export async function newAdminCredential(
  environment: Environment,
  stateDirectory: string | undefined,
): Promise<string> {
  const kernel = await openKernel({ environment, ...(stateDirectory !== undefined && { stateDirectory }) });
  try {
    await kernel.administration.recordAdminCredential();
    return await makeAdminCredential(kernel.stateDirectory, systemRandom);
  } finally {
    await kernel.close();
  }
}
