/** Contexts in what programs print and people say: logs, differences, search results, chat. */
import { type Context, inQuotes } from "./context.ts";

const upper = (name: string) => name.replace(/[^A-Za-z0-9_]+/g, "_").toUpperCase();
const said = (title: string, write: Context["write"]): Context => ({ cue: "name", title, write, excludes: /[\s`]/ });
const plain = (title: string, write: Context["write"]): Context => ({
  cue: "name",
  title,
  write,
  excludes: /[\s"'\\;#&]/,
});
const bare = (title: string, write: (value: string) => string): Context => ({
  cue: "none",
  title,
  write: (_name, value) => write(value),
});
const RED = "\x1b[31m";
const RESET = "\x1b[0m";

/** All of them. */
export const LOGS: readonly Context[] = [
  plain(
    "log with timestamp",
    (name, value) => `2026-03-04T10:11:12.345Z INFO  [main] loaded ${name}=${value} from env\n`,
  ),
  plain(
    "log, comma separated",
    (name, value) => `Mar  4 10:11:12 web1 app[812]: config host=db, ${name}=${value}, port=1\n`,
  ),
  {
    cue: "name",
    title: "structured log line",
    write: (name, value) => `{"level":"debug","time":1772619072,"msg":"start","${name}":"${value}"}\n`,
    escape: inQuotes,
  },
  plain("docker compose logs", (name, value) => `web-1  | ${upper(name)}=${value}\nweb-1  | listening on 3000\n`),
  plain("kubectl describe", (name, value) => `    Environment:\n      ${upper(name)}:  ${value}\n      TZ:  UTC\n`),
  plain("grep -n", (name, value) => `config/prod.env:12:${upper(name)}=${value}\n`),
  { ...plain("grep -n of YAML", (name, value) => `deploy/app.yml:40:  ${name}: "${value}"\n`), escape: inQuotes },
  plain(
    "stack trace",
    (name, value) => `Error: connect failed (${name}=${value})\n    at run (/srv/app/index.js:4:11)\n`,
  ),
  plain(
    "Python traceback",
    (name, value) => `    raise AuthError("bad ${name}: ${value}")\nAuthError: bad ${name}: ${value}\n`,
  ),
  plain("diff, added line", (name, value) => `@@ -1,2 +1,2 @@\n HOST=db\n-${upper(name)}=\n+${upper(name)}=${value}\n`),
  {
    ...plain("diff, removed line of YAML", (name, value) => `@@ -3 +3 @@\n-  ${name}: "${value}"\n+  ${name}: ""\n`),
    escape: inQuotes,
  },
  plain("ANSI, name coloured", (name, value) => `${RED}${upper(name)}${RESET}=${value}\n`),
  plain("ANSI, value coloured", (name, value) => `${upper(name)}=${RED}${value}${RESET}\n`),
  plain("env output", (name, value) => `SHELL=/bin/bash\n${upper(name)}=${value}\nHOME=/root\n`),
  { ...plain("declare -x", (name, value) => `declare -x ${upper(name)}="${value}"\n`), escape: inQuotes },
  plain("set -x trace", (name, value) => `+ export ${upper(name)}=${value}\n+ ${upper(name)}=${value}\n`),
  said("chat: the NAME is", (name, value) => `hey, the ${name} for staging is ${value}, please rotate it later\n`),
  said("chat: NAME in backticks", (name, value) => `use \`${value}\` as the ${name} until Friday\n`),
  said("commit text", (name, value) => `fix: use new ${name} ${value}\n`),
  said("mail, NAME on own line", (name, value) => `Hello,\n\n${name}:\n${value}\n\nBest regards\n`),
  bare("chat without a name", (value) => `can you try with ${value} please?\n`),
  bare("log without a name", (value) => `2026-03-04 10:11:12 DEBUG request sent ${value} 200 12ms\n`),
  bare("quoted argument of a function", (value) => `const client = connect(${JSON.stringify(value)});\n`),
];
