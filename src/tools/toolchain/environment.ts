/** Environment variables that runs of a project's tools get besides the sandbox's own. */
import { WORKSPACE_ALIAS } from "../../model/place/workspace.ts";

/** Nobody watches and nobody can answer: runners neither wait, nor draw, nor colour. */
export const UNATTENDED = { CI: "1", NO_COLOR: "1" } as const;

/**
 * Runs have no network: managers of packages use the version of themselves that is installed, whatever the project
 * names, instead of trying for a minute to fetch that one. pnpm before version 11 has another name for it.
 */
export const INSTALLED_PNPM = {
  npm_config_manage_package_manager_versions: "false",
  pnpm_config_pm_on_fail: "ignore",
  COREPACK_ENABLE_NETWORK: "0",
} as const;
/** yarn is fetched by corepack alone. */
export const INSTALLED_YARN = { COREPACK_ENABLE_NETWORK: "0" } as const;
/** The same for go, and for the modules of a project that were not fetched before. */
export const GO_ENVIRONMENT = { GOTOOLCHAIN: "local", GOPROXY: "off" } as const;

/**
 * What cargo fetches stays in the workspace, in the directory of what it builds: everything else is gone with the run.
 */
export const CARGO_ENVIRONMENT = { CARGO_HOME: `${WORKSPACE_ALIAS}/target/cargo-home` } as const;
