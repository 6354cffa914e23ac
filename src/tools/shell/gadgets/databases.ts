/** Gadgets of database clients. */
import type { Gadget } from "./gadget.ts";

/** Commands of the client itself that only show something; others start programs, read scripts, load extensions. */
const PLAIN_DOT =
  "tables?|schema|headers?|mode|dump|index(?:es|ices)|databases|width|nullvalue|separator|timer|help|show|stats|fullschema|echo|bail|changes|limits?|lint|version|exit|quit|print|prompt|parameter|timeout|eqp|explain|sha3sum|dbinfo|dbtotxt|vfsinfo|vfslist|expert|progress|scanstats|trace|columns|maxrows|maxwidth|rows|constant|keyword|large_number_rendering";
const DOT = new RegExp(`(?:^|\\n)[\\s;]*\\.(?!(?:${PLAIN_DOT})(?:\\s|$))`);
const EXTENSION = /load_extension|\bedit\W*\(|fts3_tokenizer/i;
/** `\!`, `\copy … to program`, `\o |…`; `\d` and the like only show. */
const BACKSLASH =
  /\\(?:!|copy|o(?:\b|ut)|g(?:x|set|exec|desc)?\s*[|(]|g\s+\S|w(?:\b|rite|atch)|i(?:r|nclude)?\b|ir\b|e(?:d|f|v|dit)?\b|s\b|setenv|lo_|\|)|\bprogram\b/i;
const MYSQL =
  /\\[!PeTR.]|(?:^|[;\n])\s*(?:system|pager|edit|tee|source|prompt|delimiter)\b|\binto\s+(?:out|dump)file\b|load\s+data/i;

/** Clients of databases. */
export const DATABASES: readonly Gadget[] = [
  {
    of: "sqlite3 sqlite duckdb sqlcipher litecli",
    does: "starts",
    words: DOT,
    input: DOT,
    by: "a command such as .shell",
    source: "sqlite3(1)",
  },
  {
    of: "sqlite3 sqlite sqlcipher litecli",
    does: "loads",
    words: EXTENSION,
    input: EXTENSION,
    by: "load_extension",
    source: "sqlite3(1)",
  },
  {
    of: "sqlite3 sqlite duckdb sqlcipher",
    does: "runs",
    options: "-init -vfs",
    words: /^-[fs]$/,
    source: "sqlite3(1)",
  },
  {
    of: "duckdb",
    does: "loads",
    options: "-unsigned -ui",
    words: /\b(?:install|load)\s/i,
    by: "LOAD",
    source: "duckdb(1)",
  },
  {
    of: "mysql mariadb mycli",
    does: "starts",
    words: MYSQL,
    input: MYSQL,
    by: "a command such as \\!",
    source: "mysql(1)",
  },
  { of: "mysql mariadb mycli", does: "starts", options: "--pager --tee --init-command", source: "mysql(1)" },
  {
    of: "mysql mariadb mysqldump mariadb-dump mysqladmin mariadb-admin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlbinlog mysqlpump mysql_upgrade",
    does: "loads",
    options: "--plugin-dir --default-auth --defaults-file --defaults-extra-file --defaults-group-suffix",
    source: "mysql(1)",
  },
  { of: "mysqlslap", does: "starts", options: "--pre-system --post-system", source: "mysqlslap(1)" },
  {
    of: "mysqlsh",
    does: "runs",
    options: "--py --js --python --javascript -e --execute -f --file",
    input: true,
    source: "mysqlsh(1)",
  },
  {
    of: "psql pgcli",
    does: "starts",
    words: BACKSLASH,
    input: BACKSLASH,
    by: "a command such as \\!",
    source: "psql(1)",
  },
  { of: "psql", does: "runs", options: "-f --file", source: "psql(1): its files may hold \\!" },
  { of: "psql", does: "runs", options: "-v --set --variable", source: "psql(1): variables such as EDITOR and PROMPT1" },
  { of: "pg_ctl initdb pg_ctlcluster postgres", does: "starts", always: true, unless: "status", source: "pg_ctl(1)" },
  {
    of: "pg_basebackup pg_receivewal pg_restore pg_rewind",
    does: "starts",
    options: "--target",
    source: "pg_basebackup(1)",
  },
  {
    of: "mongo mongosh",
    does: "runs",
    options: "--eval -f --file --shell",
    input: true,
    operands: "--host --port -u -p --username --password",
    source: "mongosh(1)",
  },
  {
    of: "redis-cli valkey-cli",
    does: "leaves",
    verbs: "module, config, eval, script, debug, slaveof, replicaof, migrate, function",
    options: "--eval --rdb --pipe --functions-rdb",
    source: "redis-cli(1)",
  },
  { of: "redis-cli valkey-cli", does: "leaves", input: true, source: "redis-cli(1)" },
  {
    of: "sqlplus sqlcl isql osql sqlcmd usql rlsql bconsole",
    does: "edits",
    always: true,
    source: "sqlplus(1): `host` and `!`",
  },
  {
    of: "clickhouse clickhouse-client clickhouse-local",
    does: "starts",
    words: /\bexecutable\s*\(|into\s+outfile/i,
    options: "--config-file -C",
    by: "executable()",
    source: "clickhouse(1)",
  },
  {
    of: "cqlsh impala-shell beeline hive spark-sql presto trino influx",
    does: "runs",
    options: "-f --file -i --init --cqlshrc --jars --packages",
    words: /(?:^|;)\s*(?:!|source|shell)/i,
    input: true,
    by: "!",
    source: "beeline(1)",
  },
  { of: "spark-submit spark-shell pyspark", does: "runs", always: true, source: "spark-submit(1)" },
  { of: "ldapvi", does: "edits", always: true, source: "ldapvi(1)" },
  { of: "debugfs", does: "starts", options: "-f -R", words: /^!/, input: true, source: "debugfs(8)" },
  {
    of: "tdbtool ginsh",
    does: "edits",
    input: true,
    options: "-f --batch-string -q",
    operands: "-f",
    source: "gp(1), maxima(1)",
  },
  { of: "consul", does: "starts", verbs: "exec, watch, lock, connect", source: "consul(1)" },
  { of: "vault", does: "starts", verbs: "agent, ssh, server, plugin", source: "vault(1)" },
  { of: "etcdctl", does: "starts", verbs: "watch, lock", source: "etcdctl(1)" },
];
