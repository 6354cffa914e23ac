/** Adds and removes approvers of a state directory, as `handrail approvers` does; the ledger says when. */
import { systemRandom } from "../../base/ids.ts";
import { type KernelOptions, type OpenKernel, openKernel } from "../compose.ts";
import { defaultStatePath, type Environment } from "../operator/operator-directory.ts";
import {
  type Approver,
  addApprover,
  listApprovers,
  removeApprover,
  requireApproverName,
  requireFreeName,
  saveApproverToken,
} from "../people/approver-credentials.ts";

/** Where the approvers are, and the operator; what is absent comes from the environment. */
export type ApproverDirectories = Pick<KernelOptions, "stateDirectory" | "configDirectory">;

/**
 * Makes the credential of a new approver; recorded before it can be used.
 * @param save keeps it in the operator's directory instead of handing it out
 * @throws KernelError USAGE for a name that cannot be, or is taken
 */
export async function newApprover(
  environment: Environment,
  directories: ApproverDirectories,
  { name, save }: { readonly name: string; readonly save: boolean },
): Promise<{ readonly token: string } | { readonly savedAs: string }> {
  requireApproverName(name);
  return withKernel(environment, directories, async (kernel) => {
    const { stateDirectory, administration, operator } = kernel;
    await requireFreeName(stateDirectory, name);
    await administration.recordApprover("approver_added", name);
    const token = await addApprover(stateDirectory, name, systemRandom);
    if (!save) return { token };
    try {
      return { savedAs: await saveApproverToken(operator.path, token) };
    } catch (error) {
      // A credential that nobody holds would keep its name, and have calls wait for an approver who is none.
      await removeApprover(stateDirectory, name);
      await administration.recordApprover("approver_removed", name);
      throw error;
    }
  });
}

/** The approvers, by name. */
export function approversOf(
  environment: Environment,
  { stateDirectory }: ApproverDirectories,
): Promise<readonly Approver[]> {
  return listApprovers(stateDirectory ?? defaultStatePath(environment));
}

/** Takes a credential back; recorded. @throws KernelError USAGE when there is none of that name */
export async function dismissApprover(
  environment: Environment,
  directories: ApproverDirectories,
  name: string,
): Promise<void> {
  await withKernel(environment, directories, async (kernel) => {
    await removeApprover(kernel.stateDirectory, name);
    await kernel.administration.recordApprover("approver_removed", name);
  });
}

async function withKernel<T>(
  environment: Environment,
  directories: ApproverDirectories,
  work: (kernel: OpenKernel) => Promise<T>,
): Promise<T> {
  const kernel = await openKernel({ environment, ...directories });
  try {
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}
