/** Contexts in files: configuration and source code. */
import { type Context, inQuotes, inShell, inSql, inXml } from "./context.ts";

const WORD_ENDS = /[\s"'`$\\;&|<>(){}#!*?[\]]/;
const snake = (name: string) => name.replace(/[^A-Za-z0-9_]+/g, "_");
const upper = (name: string) => snake(name).toUpperCase();
const camel = (name: string) =>
  snake(name)
    .replace(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/_+([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
const pascal = (name: string) => camel(name).replace(/^./, (letter) => letter.toUpperCase());

const quoted = (title: string, write: Context["write"]): Context => ({ cue: "name", title, write, escape: inQuotes });
const bare = (title: string, write: Context["write"], excludes = WORD_ENDS): Context => ({
  cue: "name",
  title,
  write,
  excludes,
});
const xml = (title: string, write: Context["write"]): Context => ({ cue: "name", title, write, escape: inXml });

/** All of them. */
export const FILES: readonly Context[] = [
  bare(".env", (name, value) => `NODE_ENV=production\n${upper(name)}=${value}\nPORT=3000\n`),
  quoted(".env, double quotes", (name, value) => `${upper(name)}="${value}"\nDEBUG=false\n`),
  { cue: "name", title: "export", write: (name, value) => `export ${upper(name)}='${value}'\n`, escape: inShell },
  bare("csh setenv", (name, value) => `setenv ${upper(name)} ${value}\n`),
  bare("systemd Environment=", (name, value) => `[Service]\nEnvironment=${upper(name)}=${value}\nRestart=always\n`),
  bare(
    "YAML, plain",
    (name, value) => `db:\n  host: localhost\n  ${snake(name)}: ${value}\n  port: 5432\n`,
    /[\s#:'"{}[\],&*!|>%@`]/,
  ),
  quoted("YAML, double quotes", (name, value) => `service:\n  ${camel(name)}: "${value}"\n  enabled: true\n`),
  {
    cue: "name",
    title: "YAML, single quotes",
    write: (name, value) => `${name}: '${value}'\nregion: eu\n`,
    escape: inSql,
  },
  quoted("YAML, block scalar", (name, value) => `data:\n  ${snake(name)}: |\n    ${value}\n  other: 1\n`),
  quoted(
    "Kubernetes env",
    (name, value) => `env:\n  - name: ${upper(name)}\n    value: "${value}"\n  - name: TZ\n    value: UTC\n`,
  ),
  quoted("Kubernetes env as JSON", (name, value) => `{"env":[{"name":"${upper(name)}","value":"${value}"}]}`),
  bare("docker-compose list", (name, value) => `    environment:\n      - ${upper(name)}=${value}\n      - TZ=UTC\n`),
  quoted("docker-compose map", (name, value) => `    environment:\n      ${upper(name)}: "${value}"\n      TZ: UTC\n`),
  quoted(
    "GitHub Actions env",
    (name, value) => `    steps:\n      - run: make\n        env:\n          ${upper(name)}: "${value}"\n`,
  ),
  bare("Dockerfile ENV =", (name, value) => `FROM debian\nENV ${upper(name)}=${value}\nRUN make\n`),
  bare(
    "Dockerfile ENV with space",
    (name, value) => `FROM debian\nENV ${upper(name)} ${value}\nRUN make\n`,
    /[\n\\$"']/,
  ),
  bare("Dockerfile ARG", (name, value) => `ARG ${upper(name)}=${value}\n`),
  quoted("JSON", (name, value) => `{\n  "host": "localhost",\n  "${camel(name)}": "${value}",\n  "port": 1\n}\n`),
  quoted("JSON, one line", (name, value) => `{"id":17,"${snake(name)}":"${value}","active":true}`),
  {
    cue: "name",
    title: "JSON within JSON",
    write: (name, value) => `{"body":"{\\"${snake(name)}\\":\\"${value}\\",\\"n\\":1}"}`,
    escape: (value) => inQuotes(inQuotes(value)),
  },
  quoted("TOML", (name, value) => `[database]\n${snake(name)} = "${value}"\nport = 5432\n`),
  bare("INI", (name, value) => `[client]\nuser = app\n${snake(name)} = ${value}\n`, /[\n;#]/),
  bare(".properties", (name, value) => `app.name=demo\n${name.toLowerCase()}=${value}\napp.port=1\n`, /[\n\\]/),
  bare(".properties, colon", (name, value) => `${name.toLowerCase()}: ${value}\n`, /[\n\\]/),
  xml("XML attribute", (name, value) => `<add key="${pascal(name)}" value="${value}" />\n`),
  xml("XML attribute of its name", (name, value) => `<connection host="db" ${camel(name)}="${value}" port="1"/>\n`),
  xml("XML element", (name, value) => `<settings>\n  <${camel(name)}>${value}</${camel(name)}>\n</settings>\n`),
  xml("XML element, value on own line", (name, value) => `<${camel(name)}>\n  ${value}\n</${camel(name)}>\n`),
  quoted("plist", (name, value) => `<key>${pascal(name)}</key>\n<string>${value}</string>\n`),
  quoted(
    "Terraform default",
    (name, value) => `variable "${snake(name).toLowerCase()}" {\n  type    = string\n  default = "${value}"\n}\n`,
  ),
  quoted(
    "Terraform attribute",
    (name, value) => `resource "x" "y" {\n  ${snake(name).toLowerCase()} = "${value}"\n}\n`,
  ),
  quoted("JavaScript const", (name, value) => `const ${camel(name)} = "${value}";\n`),
  quoted("JavaScript object", (name, value) => `new Client({ host: "db", ${camel(name)}: "${value}", retries: 3 });\n`),
  quoted("TypeScript field with type", (name, value) => `  private readonly ${camel(name)}: string = "${value}";\n`),
  quoted("fallback of process.env", (name, value) => `const a = process.env.${upper(name)} || "${value}";\n`),
  quoted("comparison", (name, value) => `if (${camel(name)} === "${value}") return true;\n`),
  quoted("Python assignment", (name, value) => `import os\n${upper(name)} = "${value}"\n`),
  quoted("Python dictionary", (name, value) => `conf = {"${snake(name)}": "${value}"}\n`),
  quoted("Python keyword argument", (name, value) => `connect(host="db", ${snake(name).toLowerCase()}="${value}")\n`),
  quoted("Python os.environ", (name, value) => `os.environ["${upper(name)}"] = "${value}"\n`),
  quoted("Go var", (name, value) => `var ${camel(name)} string = "${value}"\n`),
  quoted("Go short declaration", (name, value) => `\t${camel(name)} := "${value}"\n`),
  quoted("Go struct field", (name, value) => `\tcfg := Config{${pascal(name)}: "${value}"}\n`),
  quoted("Java field", (name, value) => `    private static final String ${upper(name)} = "${value}";\n`),
  quoted("Java setter", (name, value) => `    config.set${pascal(name)}("${value}");\n`),
  quoted("C# property", (name, value) => `public string ${pascal(name)} { get; set; } = "${value}";\n`),
  quoted("C array", (name, value) => `static const char ${snake(name).toLowerCase()}[] = "${value}";\n`),
  quoted("C define", (name, value) => `#define ${upper(name)} "${value}"\n`),
  quoted("PHP define", (name, value) => `define('${upper(name)}', "${value}");\n`),
  quoted("PHP array", (name, value) => `    '${snake(name).toLowerCase()}' => "${value}",\n`),
  quoted("PHP append", (name, value) => `$${snake(name).toLowerCase()} .= "${value}";\n`),
  quoted("Ruby hash", (name, value) => `config = { ${snake(name).toLowerCase()}: "${value}", ssl: true }\n`),
  quoted("Ruby hash rocket", (name, value) => `:${snake(name).toLowerCase()} => "${value}"\n`),
  quoted("Rust const", (name, value) => `const ${upper(name)}: &str = "${value}";\n`),
  quoted("Swift let", (name, value) => `let ${camel(name)} = "${value}"\n`),
  bare("make ?=", (name, value) => `${upper(name)} ?= ${value}\n`, /[\n#$]/),
  bare("make :=", (name, value) => `${upper(name)} := ${value}\n`, /[\n#$]/),
  bare("make ::=", (name, value) => `${upper(name)} ::= ${value}\n`, /[\n#$]/),
  bare("shell heredoc", (name, value) => `cat > .env <<'EOF'\nHOST=db\n${upper(name)}=${value}\nEOF\n`),
  {
    cue: "name",
    title: "CSV, name and value columns",
    write: (name, value) => `name,value,comment\nhost,db,main\n${snake(name)},"${value}",rotate\n`,
    escape: (value) => value.replace(/"/g, '""'),
  },
  {
    cue: "name",
    title: "CSV, column of its name",
    write: (name, value) => `user,${snake(name)},role\nalice,"${value}",admin\n`,
    escape: (value) => value.replace(/"/g, '""'),
  },
  bare(
    "Markdown columns",
    (name, value) => `| setting | value |\n|---|---|\n| host | db |\n| ${name} | ${value} |\n`,
    /[\n|]/,
  ),
  bare(
    "Markdown columns, code",
    (name, value) => `| Key | Value |\n|---|---|\n| \`${name}\` | \`${value}\` |\n`,
    /[\n|`]/,
  ),
  {
    cue: "place",
    title: "SQL IDENTIFIED BY",
    write: (_name, value) => `CREATE USER 'app'@'%' IDENTIFIED BY '${value}';\n`,
    escape: inSql,
  },
  {
    cue: "place",
    title: "SQL WITH PASSWORD",
    write: (_name, value) => `ALTER ROLE app WITH LOGIN PASSWORD '${value}';\n`,
    escape: inSql,
  },
  {
    cue: "place",
    title: ".npmrc",
    keysOnly: true,
    write: (_name, value) => `//registry.example.com/:_authToken=${value}\n`,
    excludes: /[\s;#=&]/,
  },
  {
    cue: "place",
    title: "netrc",
    write: (_name, value) => `machine api.example.com\n  login bot\n  password ${value}\n`,
    excludes: /[\s"#]/,
  },
  {
    cue: "place",
    title: "netrc, one line",
    write: (_name, value) => `machine api.example.com login bot password ${value}\n`,
    excludes: /[\s"#]/,
  },
  {
    cue: "place",
    title: "nuget.config",
    write: (_name, value) =>
      `<packageSourceCredentials><feed>\n<add key="Username" value="bot" />\n` +
      `<add key="ClearTextPassword" value="${value}" />\n</feed></packageSourceCredentials>\n`,
    escape: inXml,
  },
  {
    cue: "place",
    title: "Maven settings.xml",
    write: (_name, value) => `<server>\n  <id>central</id>\n  <password>${value}</password>\n</server>\n`,
    escape: inXml,
  },
  { cue: "none", title: "list without names", write: (_name, value) => `first\n${value}\nlast\n` },
  quoted("comment in code", (name, value) => `// was until May: ${name} = "${value}"\n`),
];
