/** `handrail secrets`: secrets that agents and their commands use and never see. */
import { type Command, Option } from "commander";
import { textOf } from "../../base/bytes.ts";
import { usageError } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json.ts";
import type { CheckedSecret, SecretWish } from "../../server/secrets/secret-desk.ts";
import { type KernelFlags, withKernel, withKernelOptions } from "../start/kernel-options.ts";
import { EXIT_FAILURE } from "../terminal/exit-codes.ts";
import { currentUser, readStandardInput } from "../terminal/inputs.ts";
import { failedChecks, print, printJson, table, visible } from "../terminal/output.ts";

interface JsonFlag extends KernelFlags {
  readonly json?: boolean;
}

interface AddFlags extends JsonFlag {
  readonly from?: string;
  readonly to: string;
  readonly path?: string;
  readonly method?: string[];
  readonly in: string;
  readonly add?: string;
  readonly placeholder?: string;
}

const HELP = `
A secret has the name of the variable in which commands find its placeholder. Where it is kept:
  env:NAME              a variable of the kernel's own environment
  file:/PATH            a file that nobody but its owner reads
  command:PROGRAM ...   a program, by its absolute path, that prints it
  keyring[:ENTRY]       the keyring of this user; the value comes on standard input

Where it stands in requests:
  'header NAME'   'query NAME'   'body NAME'   basic   'aws ACCESS-KEY-ID'   'hmac HEADER sha256 [PREFIX]'

Examples:
  handrail secrets add API_KEY --from env:API_KEY --to api.example.com --in 'header Authorization'
  handrail secrets add API_KEY --to upload.example.com --path /v1 --method POST --in 'header Authorization'
  pass show work/index | handrail secrets add INDEX_PASSWORD --from keyring --to pip.example.com --in basic`;

/** Bytes of a value on standard input. */
const VALUE_BYTES_MAX = 8192;

/** Adds `handrail secrets`. */
export function addSecretsCommand(program: Command): void {
  const secrets = program.command("secrets").description("secrets that agents and their commands use and never see");
  const json = ["--json", "print JSON"] as const;
  withKernelOptions(
    secrets
      .command("add <name>")
      .description("add a secret that is bound to one server, or bind one that is there to one more")
      .option("--from <place>", "where its value is kept; leave it out to bind a secret to one more server")
      .requiredOption("--to <server>", "server, as api.example.com or api.example.com:8443")
      .addOption(
        new Option("--in <place>", "where it stands in requests, such as 'header Authorization'").makeOptionMandatory(),
      )
      .option("--path <path>", "for requests at or below this path alone")
      .option("--method <names...>", "for requests by these methods alone")
      .option("--add <text>", "add the header where a request has none, with {} for the value, as in 'Bearer {}'")
      .option("--placeholder <text>", "what commands see (default: made in the shape of the value)")
      .option(...json)
      .addHelpText("after", HELP),
  ).action(add);
  withKernelOptions(
    secrets
      .command("ls")
      .description("list secrets, where they are kept and what they are for")
      .option(...json),
  ).action(list);
  withKernelOptions(
    secrets
      .command("check [name]")
      .description("read each value where it is kept, and say what is wrong")
      .option(...json),
  ).action(check);
  withKernelOptions(
    secrets
      .command("rotate <name>")
      .description("take a new value into use under the same placeholder; for the keyring it comes on standard input")
      .option(...json),
  ).action(rotate);
  withKernelOptions(
    secrets
      .command("rm <name>")
      .description("remove a secret, and its entry of the keyring")
      .option(...json),
  ).action(remove);
}

async function add(name: string, flags: AddFlags): Promise<void> {
  const from = flags.from === undefined ? undefined : sourceOf(flags.from, name);
  const { to, path, method, add: added, placeholder } = flags;
  const binding: JsonObject = {
    to,
    ...(path !== undefined && { path }),
    ...(method && { methods: method.map((one) => one.toUpperCase()) }),
    in: flags.in,
    ...(added !== undefined && { add: added }),
  };
  const value = from !== undefined && "keyring" in from ? await pipedValue() : undefined;
  const wish: SecretWish = {
    ...{ name, binding, by: currentUser() },
    ...(from && { from }),
    ...(placeholder !== undefined && { placeholder }),
    ...(value !== undefined && { value }),
  };
  const secret = await withKernel(flags, async ({ secrets }) => (await secrets()).add(wish));
  if (flags.json) return printJson(secret);
  print(visible(`${name} is kept in ${secret.from}, ${secret.bound}`));
  print(
    visible(
      `commands that may reach it see ${secret.placeholder} in $${name}; web_fetch takes {{secret:${name}}}, too`,
    ),
  );
}

function sourceOf(text: string, name: string): NonNullable<SecretWish["from"]> {
  const [, kind = "", rest = ""] = /^([a-z]+)(?::([\s\S]*))?$/.exec(text) ?? [];
  if (kind === "env" && rest !== "") return { env: rest };
  if (kind === "file" && rest !== "") return { file: rest };
  if (kind === "command" && rest !== "") return { command: rest.split(/ +/) };
  if (kind === "keyring") return { keyring: rest === "" ? name : rest };
  throw usageError(
    `\`--from ${text}\` names no place; write \`env:NAME\`, \`file:/PATH\`, \`command:/PROGRAM\` or \`keyring\``,
  );
}

/** A value is never typed where it shows, nor given as an argument, which every user of the machine can see. */
async function pipedValue(): Promise<string | undefined> {
  if (process.stdin.isTTY)
    throw usageError("the value comes on standard input; pipe it in, as in `pass show x | handrail …`");
  const text = textOf(await readStandardInput(VALUE_BYTES_MAX))?.trim();
  if (text === undefined || text === "") throw usageError("standard input holds no value; pipe it in as text");
  return text;
}

async function list(flags: JsonFlag): Promise<void> {
  const all = await withKernel(flags, async ({ secrets }) => (await secrets()).list());
  if (flags.json) return printJson(all);
  if (all.length === 0) return print("no secrets; `handrail secrets add --help` says how to add one");
  const rows = all.map(({ name, from, bound }) => [name, visible(from), visible(bound)]);
  print(table([["NAME", "KEPT IN", "FOR"], ...rows]));
}

async function check(name: string | undefined, flags: JsonFlag): Promise<void> {
  const all = await withKernel(flags, async ({ secrets }) => (await secrets()).check(name));
  const failed = failing(all);
  if (flags.json) return printJson(all, failed);
  for (const secret of all) print(visible(checkedLine(secret)));
  if (all.length === 0) print("no secrets");
}

/** What JSON says of values that cannot be read; the exit code says it, too. */
function failing(all: readonly CheckedSecret[]) {
  const count = all.filter(({ problem }) => problem !== undefined).length;
  if (count > 0) process.exitCode = EXIT_FAILURE;
  return failedChecks(count, "of secrets");
}

function checkedLine({ name, from, problem }: CheckedSecret): string {
  return problem === undefined ? `ok      ${name}  ${from}` : `failed  ${name}  ${problem}`;
}

async function rotate(name: string, flags: JsonFlag): Promise<void> {
  const value = process.stdin.isTTY ? undefined : textOf(await readStandardInput(VALUE_BYTES_MAX))?.trim() || undefined;
  const secret = await withKernel(flags, async ({ secrets }) => (await secrets()).rotate(name, currentUser(), value));
  const failed = failing([secret]);
  if (flags.json) return printJson(secret, failed);
  print(visible(checkedLine(secret)));
}

async function remove(name: string, flags: JsonFlag): Promise<void> {
  const removed = await withKernel(flags, async ({ secrets }) => (await secrets()).remove(name, currentUser()));
  if (flags.json) return printJson({ name, removed: true });
  print(visible(`removed ${removed.name}, which was ${removed.bound}`));
}
