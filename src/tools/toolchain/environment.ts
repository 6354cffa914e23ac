/** Environment variables that runs of a project's tools get besides the sandbox's own. */
import { WORKSPACE_ALIAS } from "../../model/workspace.ts";

/** Nobody watches and nobody can answer: runners neither wait, nor draw, nor colour. */
export const UNATTENDED = { CI: "1", NO_COLOR: "1" } as const;

/** What cargo fetches stays in the workspace, in the directory of what it builds: everything else is gone with the run. */
export const CARGO_ENVIRONMENT = { CARGO_HOME: `${WORKSPACE_ALIAS}/target/cargo-home` } as const;

/** poetry's environment lies in the project, as `.venv`, for the same reason. */
export const POETRY_ENVIRONMENT = { POETRY_VIRTUALENVS_IN_PROJECT: "true" } as const;
