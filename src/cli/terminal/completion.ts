/** Writes the completion scripts of bash, zsh and fish from a tree of commands. Pure. */

/** A command as completion needs it. */
export interface CompletedCommand {
  /** All its words, such as `handrail sessions create`. */
  readonly path: string;
  readonly description: string;
  readonly commands: readonly CompletedCommand[];
  readonly options: readonly CompletedOption[];
  /** What its first argument may be, where that is known. */
  readonly words: readonly string[];
}

/** An option with all its flags, such as `-n` and `--count`. */
export interface CompletedOption {
  readonly flags: readonly string[];
  readonly description: string;
  /** What stands behind it: nothing, one of some words, a directory, a file, or what nobody can complete. */
  readonly takes: "nothing" | "directory" | "file" | "other" | readonly string[];
}

/** Shells that a script can be written for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** The script for `shell`. */
export function completionScript(shell: (typeof SHELLS)[number], root: CompletedCommand): string {
  return { bash, zsh, fish }[shell](everyCommand(root));
}

function everyCommand(command: CompletedCommand): readonly CompletedCommand[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}

/** `text` as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** fish takes `\'` within quotes. */
function fishQuoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}

/** Patterns of `case` that mean an option of a command, with what the option takes. */
function optionCases(all: readonly CompletedCommand[]) {
  return all.flatMap(({ path, options }) =>
    options
      .filter(({ takes }) => takes !== "nothing")
      .map(({ flags, takes }) => ({ pattern: flags.map((flag) => quoted(`${path}:${flag}`)).join("|"), takes })),
  );
}

function candidates({
  commands,
  options,
  words,
}: CompletedCommand): readonly (readonly [word: string, about: string])[] {
  return [
    ...commands.map(({ path, description }) => [path.split(" ").at(-1) ?? "", description] as const),
    ...words.map((word) => [word, ""] as const),
    ...options.flatMap(({ flags, description }) => flags.map((flag) => [flag, description] as const)),
  ];
}

function bash(all: readonly CompletedCommand[]): string {
  const values = optionCases(all).map(({ pattern, takes }) => `    ${pattern}) ${bashValues(takes)}; return ;;`);
  const words = all.map(
    (command) =>
      `    ${quoted(command.path)}) words=${quoted(
        candidates(command)
          .map(([word]) => word)
          .join(" "),
      )} ;;`,
  );
  return `# bash completion of handrail; written by \`handrail completion bash\`
_handrail() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path=handrail words="" index
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$path \${COMP_WORDS[index]}" in
      ${all.map(({ path }) => quoted(path)).join("|")}) path="$path \${COMP_WORDS[index]}" ;;
    esac
  done
  COMPREPLY=()
  case "$path:\${COMP_WORDS[COMP_CWORD - 1]}" in
${values.join("\n")}
  esac
  case "$path" in
${words.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -F _handrail handrail
`;
}

function bashValues(takes: CompletedOption["takes"]): string {
  if (takes === "directory") return 'COMPREPLY=($(compgen -d -- "$current"))';
  if (takes === "file") return 'COMPREPLY=($(compgen -f -- "$current"))';
  return typeof takes === "string" ? ":" : `COMPREPLY=($(compgen -W ${quoted(takes.join(" "))} -- "$current"))`;
}

function zsh(all: readonly CompletedCommand[]): string {
  const values = optionCases(all).map(({ pattern, takes }) => `    (${pattern}) ${zshValues(takes)}; return ;;`);
  const described = ([word, about]: readonly [string, string]) =>
    quoted(about === "" ? word : `${word.replaceAll(":", "\\:")}:${about}`);
  const words = all.map(
    (command) => `    (${quoted(command.path)}) words_=(${candidates(command).map(described).join(" ")}) ;;`,
  );
  return `#compdef handrail
# zsh completion of handrail; written by \`handrail completion zsh\`
_handrail() {
  local path_=handrail index
  local -a words_
  for ((index = 2; index < CURRENT; index++)); do
    case "$path_ \${words[index]}" in
      (${all.map(({ path }) => quoted(path)).join("|")}) path_="$path_ \${words[index]}" ;;
    esac
  done
  case "$path_:\${words[CURRENT - 1]}" in
${values.join("\n")}
  esac
  case "$path_" in
${words.join("\n")}
  esac
  _describe handrail words_ || _files
}
if [ "$funcstack[1]" = _handrail ]; then _handrail "$@"; else compdef _handrail handrail; fi
`;
}

function zshValues(takes: CompletedOption["takes"]): string {
  if (takes === "directory") return "_files -/";
  if (takes === "file") return "_files";
  return typeof takes === "string" ? ":" : `compadd -- ${takes.map(quoted).join(" ")}`;
}

function fish(all: readonly CompletedCommand[]): string {
  const lines = all.flatMap((command) => {
    const at = `complete -c handrail -n ${fishQuoted(`test (__handrail_path) = "${command.path}"`)}`;
    return [
      ...command.commands.map(
        ({ path, description }) =>
          `${at} -f -a ${fishQuoted(path.split(" ").at(-1) ?? "")} -d ${fishQuoted(description)}`,
      ),
      ...(command.words.length === 0 ? [] : [`${at} -f -a ${fishQuoted(command.words.join(" "))}`]),
      ...command.options.map((option) => `${at} ${fishOption(option)}`),
    ];
  });
  return `# fish completion of handrail; written by \`handrail completion fish\`
function __handrail_path
  set -l path handrail
  for word in (commandline -opc)[2..-1]
    switch "$path $word"
      case ${all.map(({ path }) => fishQuoted(path)).join(" ")}
        set path "$path $word"
    end
  end
  echo $path
end
${lines.join("\n")}
`;
}

function fishOption({ flags, description, takes }: CompletedOption): string {
  const names = flags.map((flag) => (flag.startsWith("--") ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
  return `${names.join(" ")}${fishValues(takes)} -d ${fishQuoted(description)}`;
}

function fishValues(takes: CompletedOption["takes"]): string {
  if (takes === "nothing") return "";
  if (takes === "directory") return " -r -f -a '(__fish_complete_directories)'";
  if (takes === "file") return " -r -F";
  return typeof takes === "string" ? " -r -f" : ` -r -f -a ${fishQuoted(takes.join(" "))}`;
}
