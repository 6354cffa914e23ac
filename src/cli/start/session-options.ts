/** Options of the commands that make or imagine a session, and the session that they ask for. */
import type { Command } from "commander";
import type { SessionWish } from "../../server/people/administration.ts";

/** The options as commander parses them. */
export interface SessionFlags {
  readonly workspace: string;
  readonly project?: string;
  readonly role?: string;
  readonly preset?: string;
  readonly mode?: string;
  readonly skill?: string;
  readonly dialect?: string;
  readonly branch?: string;
}

/** Adds the options; `role` and `preset` say what these two are for. */
export function withSessionOptions(
  command: Command,
  { role, preset = "reader, dev, autonomous, meao, brio or open" }: { readonly role: string; readonly preset?: string },
): Command {
  return command
    .option("--workspace <directory>", "workspace root", ".")
    .option("--project <directory>", "project root that holds the workspace (default: the workspace)")
    .option("--role <role>", role)
    .option("--preset <name>", preset)
    .option("--mode <name>", "mode that narrows the session (`handrail modes list`)")
    .option("--skill <name>", "skill that narrows it further (`handrail skills list`)")
    .option("--dialect <name>", "names, arguments and results of another system: flow, meao, brio or apm2")
    .option("--branch <name>", "branch of the workspace to work on, made where there is none (`handrail branches`)");
}

/** The part of a wish that the options say. */
export function wishOf({
  workspace,
  project,
  role,
  preset,
  mode,
  skill,
  dialect,
  branch,
}: SessionFlags): Pick<
  SessionWish,
  "workspace" | "projectRoot" | "role" | "preset" | "mode" | "skill" | "dialect" | "branch"
> {
  return {
    workspace,
    ...(project !== undefined && { projectRoot: project }),
    ...(role !== undefined && { role }),
    ...(preset !== undefined && { preset }),
    ...(mode !== undefined && { mode }),
    ...(skill !== undefined && { skill }),
    ...(dialect !== undefined && { dialect }),
    ...(branch !== undefined && { branch }),
  };
}
