/** Projects with a `package.json`: their scripts `test` and `lint`, run by the manager that the project uses. */
import { isJsonObject, type JsonObject } from "../../base/json.ts";
import type { Toolchain, ToolchainCommand } from "../../model/work/toolchain.ts";
import { INSTALLED_PNPM, INSTALLED_YARN } from "./environment.ts";
import { type ProjectKind, type Purpose, withPaths } from "./project.ts";

type Manager = "npm" | "pnpm" | "yarn";

/** What `npm init` writes where there are no tests. */
const NO_TEST = "no test specified";

/** Scripts of `package.json`. */
export const nodeProject: ProjectKind = (files, purpose) => {
  const file = files["package.json"];
  if (file === undefined) return undefined;
  const described = file.text === undefined ? undefined : parsed(file.text);
  if (described === undefined)
    return { kind: "unusable", file: "package.json", problem: file.problem ?? "is not valid JSON" };
  const scripts = isJsonObject(described["scripts"]) ? described["scripts"] : {};
  const script = Object.hasOwn(scripts, purpose) ? scripts[purpose] : undefined;
  if (typeof script !== "string" || script.trim() === "" || script.includes(NO_TEST)) return undefined;
  const manager = managerOf(described["packageManager"], files);
  const command = COMMANDS[manager][purpose];
  const passOn = manager === "npm" ? ["--"] : [];
  const whole = withPaths([...command, ...passOn]);
  return {
    kind: "command",
    runner: manager,
    from: ["package.json"],
    environment: ENVIRONMENTS[manager],
    words: scriptsAround(scripts, purpose),
    commandFor: (target) => (target === undefined ? command : whole(target)),
  };
};

/** The script with what managers run before and after it. */
function scriptsAround(scripts: JsonObject, purpose: Purpose): string {
  const names = [`pre${purpose}`, purpose, `post${purpose}`].filter((name) => Object.hasOwn(scripts, name));
  return names.map((name) => `${name}: ${String(scripts[name])}`).join("\n");
}

// npm keeps what stands before `--` for itself; the others hand on everything behind the script's name.
const COMMANDS: Readonly<Record<Manager, Readonly<Record<Purpose, ToolchainCommand>>>> = {
  npm: { test: ["npm", "test"], lint: ["npm", "run", "lint"] },
  pnpm: { test: ["pnpm", "run", "test"], lint: ["pnpm", "run", "lint"] },
  yarn: { test: ["yarn", "run", "test"], lint: ["yarn", "run", "lint"] },
};

const ENVIRONMENTS: Readonly<Record<Manager, Readonly<Record<string, string>>>> = {
  npm: {},
  pnpm: INSTALLED_PNPM,
  yarn: INSTALLED_YARN,
};

function managerOf(declared: unknown, files: Toolchain["files"]): Manager {
  const name = typeof declared === "string" ? declared.split("@", 1)[0] : undefined;
  if (name === "npm" || name === "pnpm" || name === "yarn") return name;
  if (files["pnpm-lock.yaml"]) return "pnpm";
  return files["yarn.lock"] ? "yarn" : "npm";
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // said by the caller: what stands in the file is nobody's to quote
  }
}
