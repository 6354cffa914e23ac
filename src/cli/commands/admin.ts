/** `handrail admin`: the credential of the administration service. */
import { resolve } from "node:path";
import type { Command } from "commander";
import { print, printJson, say } from "../terminal/output.ts";

interface AdminFlags {
  readonly state?: string;
  readonly json?: boolean;
}

/** Adds `handrail admin`. */
export function addAdminCommand(program: Command): void {
  const admin = program.command("admin").description("the credential of the administration service");
  admin
    .command("token")
    .description("make a new admin credential and show it once; one made before is worth nothing from now on")
    .option("--state <directory>", "state directory (default: $XDG_STATE_HOME/handrail)")
    .option("--json", "print JSON")
    .action(async ({ state, json }: AdminFlags) => {
      const { newAdminCredential } = await import("../../server/admin/new-admin-credential.ts");
      const token = await newAdminCredential(process.env, state === undefined ? undefined : resolve(state));
      if (json) return printJson({ token });
      print(token);
      say(
        "handrail: the admin credential is shown this once; only its hash is stored. Send it as `authorization: Bearer TOKEN`",
      );
    });
}
