/** A kernel with a repository as its workspace, and people who agree or do not, for tests of branches. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ApprovalManager } from "../../src/approval/handler.ts";
import { newId, systemRandom } from "../../src/base/ids.ts";
import type { JsonObject } from "../../src/base/json.ts";
import type { ApprovalRequest } from "../../src/model/approval/approval.ts";
import { type OpenKernel, openKernel } from "../../src/server/compose.ts";
import { freshPlace, type Place } from "./place.ts";

/** What a call came to. */
export interface Called {
  readonly kind: string;
  readonly data: JsonObject;
  readonly code: string;
  readonly message: string;
}

/** One session's calls. */
export type Call = (tool: string, args?: JsonObject) => Promise<Called>;

/** A place with an open kernel. */
export interface BranchPlace extends Place {
  readonly kernel: OpenKernel;
  /** What people were asked. */
  readonly asked: ApprovalRequest[];
  /** Whether they agree. */
  answers: boolean;
  /** What happens while they look at it. */
  whileAsked: () => Promise<void>;
  /** Another kernel of the same state. */
  readonly another: (onWarning?: (message: string) => void) => Promise<OpenKernel>;
  readonly session: (options?: SessionChoice, kernel?: OpenKernel) => Promise<Call>;
  readonly git: (...args: readonly string[]) => string;
}

/** How a session is made. */
export interface SessionChoice {
  readonly preset?: string;
  readonly branch?: string;
  readonly userId?: string;
  readonly agentId?: string;
}

/** What differs from place to place. */
export interface BranchPlaceOptions {
  /** The operator's own policies, by their names. */
  readonly policy?: Readonly<Record<string, string>>;
}

/** Opens a kernel on a fresh workspace with a repository of git. */
export async function branchPlace({ policy = {} }: BranchPlaceOptions = {}): Promise<BranchPlace> {
  const place = freshPlace();
  for (const [name, text] of Object.entries(policy)) place.put(`config/policy/${name}`, text);
  const at = join(place.base, "workspace");
  place.put("workspace/a.txt", "one\ntwo\nthree\nfour\nfive\n");
  place.put("workspace/src/x.ts", "export const x = 1;\n");
  place.put("workspace/.env", "KEY=not-for-agents\n");
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=p", "-c", "user.email=p@example.org", ...args], {
      cwd: at,
      encoding: "utf8",
    });
  git("init", "-q", "-b", "work");
  git("add", "a.txt", "src");
  git("commit", "-qm", "first");
  const asked: ApprovalRequest[] = [];
  const state = { answers: true, whileAsked: async (): Promise<void> => undefined };
  const open = async (onWarning: (message: string) => void = () => undefined) => {
    const approvals = new ApprovalManager();
    approvals.setHandler({
      request: async (request) => {
        asked.push(request);
        await state.whileAsked();
        return state.answers;
      },
    });
    const kernel = await openKernel({
      stateDirectory: place.state,
      configDirectory: place.config,
      environment: { HOME: place.home },
      approvals,
      onWarning,
    });
    onTestFinished(() => kernel.close());
    return kernel;
  };
  const kernel = await open();
  return {
    ...place,
    kernel,
    asked,
    get answers() {
      return state.answers;
    },
    set answers(value: boolean) {
      state.answers = value;
    },
    get whileAsked() {
      return state.whileAsked;
    },
    set whileAsked(work: () => Promise<void>) {
      state.whileAsked = work;
    },
    another: open,
    git,
    async session({ preset = "dev", branch, userId = "bob", agentId = "helper" } = {}, by = kernel) {
      const wish = { workspace: at, preset, userId, agentId, ...(branch !== undefined && { branch }) };
      const { token } = await by.administration.createSession(wish);
      return (tool, args = {}) => calling(by, token, { tool, args });
    },
  };
}

async function calling(
  kernel: OpenKernel,
  token: string,
  { tool, args }: { readonly tool: string; readonly args: JsonObject },
): Promise<Called> {
  const submission = {
    kind: "call",
    requestId: newId("req", systemRandom),
    sessionToken: token,
    tool,
    arguments: args,
  } as const;
  const { outcome } = await kernel.door.execute(submission, new AbortController().signal);
  const none = { kind: outcome.kind, data: {}, code: "", message: "" };
  if (outcome.kind === "denied") return { ...none, code: outcome.denial.reason, message: outcome.denial.message };
  if (outcome.kind === "error") return { ...none, code: outcome.code, message: outcome.message };
  return { ...none, data: (outcome as unknown as { data?: JsonObject }).data ?? {} };
}
