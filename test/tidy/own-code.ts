// Which source files are parsers, encoders or algorithms of our own, and whether docs/decisions/own-code.md says why.
import type { ProjectFile } from "./rules.ts";

const NAME =
  /(?:^|-)(?:pars(?:e|er|ing)|codec|decoder?|encoder?|scan(?:ner)?|lexer|tokeni[sz]er?|diff|automaton|escape|frame|glob|bytes|json|ya?ml|toml|ini|csv|base64|varint|syntax|checksum|entropy)(?:[-.])/;
const WORDS =
  /\b(?:pars(?:es?|er|ed|ing)|decod(?:es?|er|ing)|encod(?:es?|er|ing)|scans?|codec|lexer|tokeni[sz]es?|grammar|syntax|canonical (?:form|JSON|protobuf)|automaton|varint|unified diff|BPF|reads? (?:the )?(?:regular|scripts)|read strictly)\b/i;
/** What walks over characters or bytes by their numbers does so in more than one line. */
const WALKS = /\.(?:charCodeAt|codePointAt|readU?Int\w+|getU?int\w+)\(/gi;

/** Own parsers that the page does not name; names that are no file; lines that are not right to a quarter. */
export function undocumentedOwnCode(files: readonly ProjectFile[], page: string): string[] {
  const sources = files.filter(({ path }) => /^src\/(?!gen\/).*(?<!\.test)\.ts$/.test(path));
  const named = [...page.matchAll(/`([\w./-]+\.ts)`/g)].map(([, name = ""]) => name);
  const fileOf = (name: string) => sources.find(({ path }) => path.endsWith(`/${name}`));
  const rows = [...page.matchAll(/^\| (`[^|]*\.ts`) \| (\d+) \|(.*)\|$/gm)];
  return [
    ...sources
      .filter((file) => isOwnCode(file) && !named.some((name) => file.path.endsWith(`/${name}`)))
      .map(({ path }) => `\`${path}\` is own code without a row`),
    ...named.filter((name) => fileOf(name) === undefined).map((name) => `\`${name}\` is named but is no file`),
    ...rows.flatMap(([, names = "", said, rest = ""]) => {
      const lines = [...names.matchAll(/`([^`]+)`/g)].reduce((sum, [, name = ""]) => sum + linesOf(fileOf(name)), 0);
      const empty = rest.split("|").some((cell) => cell.trim() === "") ? [`the row of ${names} has an empty cell`] : [];
      return Math.abs(Number(said) - lines) > lines / 4
        ? [`${names} has ${lines} lines, not ${said}`, ...empty]
        : empty;
    }),
  ];
}

function isOwnCode({ path, text }: ProjectFile): boolean {
  const [comment = ""] = /^\s*(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+)/.exec(text) ?? [];
  const header = comment.replace(/^\s*(?:\/\*+|\*\/?|\/\/)/gm, " ").replace(/\s+/g, " ");
  const [first = header] = /^.*?[.:](?= |$)/.exec(header) ?? [];
  return NAME.test(path.slice(path.lastIndexOf("/") + 1)) || WORDS.test(first) || (text.match(WALKS) ?? []).length > 1;
}

function linesOf(file: ProjectFile | undefined): number {
  return file === undefined ? 0 : file.text.split("\n").length - 1;
}
