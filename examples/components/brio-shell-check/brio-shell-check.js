/**
 * Brio's shell tool without its shell: says whether a command passes the rules, and into which words it falls.
 *
 * A component reaches no program. Whoever wants the command run gives it to `shell`, which judges it by policy.
 */
const CHARACTERS = ["|", ";", "&", "$", "`", ">", "<", "(", ")", "{", "}"];
const COMMANDS = ["rm", "mkfs", "dd", "format", "fdisk", "del"];
const COMMAND_CHARACTERS_MAX = 10_000;

export function name() {
  return "brio_shell_check";
}

export function description() {
  return "Says whether a shell command passes Brio's rules: no blocked characters, commands or paths. Runs nothing.";
}

export function inputSchema() {
  return JSON.stringify({
    type: "object",
    properties: { command: { type: "string", minLength: 1, maxLength: COMMAND_CHARACTERS_MAX } },
    required: ["command"],
    additionalProperties: false,
  });
}

export function execute(args) {
  const { command } = JSON.parse(args);
  const problem = problemOf(command);
  if (problem !== undefined) throw problem;
  return JSON.stringify({ allowed: true, words: wordsOf(command) });
}

function problemOf(command) {
  const blocked = CHARACTERS.find((character) => command.includes(character));
  if (blocked !== undefined) return `\`${blocked}\` is blocked; give one plain command`;
  // a line's end begins another command, and nobody sees the others
  if (/\p{Cc}/u.test(command)) return "a control character is blocked; give one plain command in one line";
  if (/\.\.[/\\]/.test(command)) return "a path that leads upwards is blocked; name a path below the workspace";
  const words = wordsOf(command);
  if (words.length === 0) return "there is no command; name a program";
  const dangerous = words.find(isDangerous);
  if (dangerous !== undefined) return `\`${dangerous}\` is blocked; ask a person to do it`;
  return undefined;
}

function wordsOf(command) {
  return command.split(" ").filter((word) => word !== "");
}

/** Wherever the word stands, since `env rm` and `find -exec rm` run it, too; quotes and backslashes hide nothing. */
function isDangerous(word) {
  const plain = word.replace(/["'\\]/g, "").toLowerCase();
  const program = plain.slice(plain.lastIndexOf("/") + 1);
  return COMMANDS.some((name) => program === name || program.startsWith(`${name}.`));
}
