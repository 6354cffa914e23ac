/**
 * Real text for the redaction figures: what is installed with the project. Which files are taken depends on nothing but
 * what is installed.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { BLOCK_RULES } from "../../src/redact/kinds/key-block.ts";
import { fillTemplate, type RandomIndex, type Sample } from "../../src/redact/kinds/samples.ts";
import { FORMAT_RULES } from "../../src/redact/rules/all.ts";
import { NAMED_RULES } from "../../src/redact/rules/named.ts";

const KINDS = {
  "lock files": ["package-lock.json", "bench/package-lock.json", "node_modules/.package-lock.json"],
  bundles: [
    "node_modules/*/dist/**/*.{js,mjs,cjs,map}",
    "node_modules/@*/*/dist/**/*.{js,mjs,cjs,map}",
    "node_modules/typescript/lib/*.js",
  ],
  documents: ["node_modules/**/{README,CHANGELOG,HISTORY,LICENSE}*.md", "docs/**/*.md"],
  sources: [
    "node_modules/*/{src,lib,test,tests}/**/*.{ts,js,json}",
    "node_modules/@*/*/{src,lib}/**/*.{ts,js,json}",
    "src/**/*.ts",
  ],
  configurations: ["node_modules/**/*.{yml,yaml,toml,sh,html,css}", "node_modules/**/package.json"],
} as const;

/** A kind of text. */
export type TextKind = keyof typeof KINDS | "logs";
/** One text of the corpus. */
export interface CorpusText {
  readonly kind: TextKind;
  readonly path: string;
  readonly text: string;
}

const FILE_BYTES_MAX = 12_000_000;

/**
 * Texts of every kind, at most `bytesMax` of each. The product's rules hold made-up secrets as examples and are left
 * out.
 */
export function readCorpus(bytesMax: number): readonly CorpusText[] {
  return (Object.keys(KINDS) as (keyof typeof KINDS)[]).flatMap((kind) => {
    let bytes = 0;
    return globSync([...KINDS[kind]])
      .filter((path) => !/src\/redact\/|redact.*\.test\.ts$|\/secretlint/.test(path))
      .sort()
      .flatMap((path) => {
        const status = statSync(path, { throwIfNoEntry: false });
        if (!status?.isFile() || status.size > FILE_BYTES_MAX || bytes + status.size > bytesMax) return [];
        bytes += status.size;
        return [{ kind, path, text: readFileSync(path, "utf8") }];
      });
  });
}

/** A made-up secret of every format that there is a rule for. */
export function secretsOfEveryFormat(random: RandomIndex): readonly (Sample & { readonly rule: string })[] {
  return [...FORMAT_RULES, ...NAMED_RULES, ...BLOCK_RULES].map(({ id, examples }) => {
    const template = examples.positive[random(examples.positive.length)] ?? "";
    return { rule: id, ...fillTemplate(template, random) };
  });
}
