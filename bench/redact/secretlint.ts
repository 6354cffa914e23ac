/**
 * The peer of the redaction figures: secretlint with its recommended preset, in the version of `bench/package.json`.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureInstalled } from "../reference-server.ts";

const PACKAGES = join(dirname(dirname(fileURLToPath(import.meta.url))), "node_modules/@secretlint");
const CORE = join(PACKAGES, "core/module/index.js");
const PRESET = join(PACKAGES, "secretlint-rule-preset-recommend/module/index.js");

/** What is used of its core. */
interface Core {
  readonly lintSource: (
    task: object,
  ) => Promise<{ readonly messages: readonly { readonly range: readonly [number, number] }[] }>;
}

/** Ranges of the secrets that it finds in a text. */
export type Lint = (text: string) => Promise<readonly (readonly [number, number])[]>;

/** Installs it where needed and loads it. */
export async function loadSecretlint(): Promise<Lint> {
  ensureInstalled(CORE);
  if (!existsSync(PRESET)) throw new Error("secretlint's preset is not where it was; look at bench/package.json");
  const core: Core = await import(pathToFileURL(CORE).href);
  const preset: { readonly creator: object } = await import(pathToFileURL(PRESET).href);
  const config = { rules: [{ id: "@secretlint/secretlint-rule-preset-recommend", rule: preset.creator, options: {} }] };
  return async (content) => {
    const source = { filePath: "text.txt", ext: ".txt", contentType: "text", content };
    const { messages } = await core.lintSource({ source, options: { config, noPhysicFilePath: true } });
    return messages.map(({ range }) => range);
  };
}
