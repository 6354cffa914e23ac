/** A state directory in which calls, approvals and their documents are recorded, for tests of exports. */
import { ApprovalManager } from "../../src/approval/handler.ts";
import { createKernel } from "../../src/server/doors/library.ts";
import { freshPlace, type Place } from "./place.ts";

/** Makes a place whose kernel wrote, read, failed, asked and was answered; it has ended. */
export async function evidencePlace(documents = "all"): Promise<Place & { readonly sessions: readonly string[] }> {
  const place = freshPlace();
  place.put("config/handrail.yaml", `evidence: { documents: ${documents} }\n`);
  place.put("workspace/a.txt", "text\n");
  const approvals = new ApprovalManager();
  let asked = 0;
  approvals.setHandler({
    async request() {
      asked += 1;
      return asked === 1;
    },
  });
  const kernel = await createKernel({
    approvals,
    environment: { HOME: place.home },
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: () => undefined,
  });
  const sessions: string[] = [];
  for (const agentId of ["one", "two"]) {
    const session = await kernel.openSession({ workspace: place.workspace, agentId });
    sessions.push(session.session.id);
    await session.call("write_file", { path: `${agentId}.txt`, content: "text" });
    await session.call("read_file", { path: "a.txt" });
    await session.call("read_file", { path: "missing.txt" });
    await session.call("write_file", { path: "CLAUDE.md", content: `${agentId}\n` }); // the first one is approved
  }
  await kernel.close();
  return { ...place, sessions };
}
