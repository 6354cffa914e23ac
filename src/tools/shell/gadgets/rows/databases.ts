/** Gadgets of database clients. */
import { edits, type Gadget, leaves, loads, runs, starts } from "./gadget.ts";

/** Commands of the client itself that only show something; others start programs, read scripts, load extensions. */
const PLAIN_DOT =
  "tables?|schema|headers?|mode|dump|index(?:es|ices)|databases|width|nullvalue|separator|timer|help|show|stats|fullschema|echo|bail|changes|limits?|lint|version|exit|quit|print|prompt|parameter|timeout|eqp|explain|sha3sum|dbinfo|dbtotxt|vfsinfo|vfslist|expert|progress|scanstats|trace|columns|maxrows|maxwidth|rows|constant|keyword|large_number_rendering";
const DOT = new RegExp(`(?:^|\\n)[\\s;]*\\.(?!(?:${PLAIN_DOT})(?:\\s|$))`);
const EXTENSION = /load_extension|\bedit\W*\(|fts3_tokenizer/i;
/** `\!`, `\copy … to program`, `\o |…`; `\d` and the like only show. */
const BACKSLASH =
  /\\(?:!|copy|gexec|set\s+PROMPT|o(?:\b|ut)|g(?:x|set|exec|desc)?\s*[|(]|g\s+\S|w(?:\b|rite|atch)|i(?:r|nclude)?\b|ir\b|e(?:d|f|v|dit)?\b|s\b|setenv|lo_|\|)|\\[a-z?][^\n]*`|\bprogram\b/i;
const MYSQL =
  /\\[!PeTR.]|(?:^|[;\n])\s*(?:system|pager|edit|tee|source|prompt|delimiter)\b|\binto\s+(?:out|dump)file\b|load\s+data/i;

/** Clients of databases. */
export const DATABASES: readonly Gadget[] = [
  starts("sqlite3 sqlite duckdb sqlcipher litecli", "sqlite3(1)", {
    words: DOT,
    input: DOT,
    by: "a command such as .shell",
  }),
  loads("sqlite3 sqlite sqlcipher litecli", "sqlite3(1)", { words: EXTENSION, input: EXTENSION, by: "load_extension" }),
  runs("sqlite3 sqlite duckdb sqlcipher", "sqlite3(1)", { options: "-init -vfs", words: /^-[fs]$/ }),
  loads("duckdb", "duckdb(1)", { options: "-unsigned -ui", words: /\b(?:install|load)\s/i, by: "LOAD" }),
  starts("mysql mariadb mycli litecli", "mysql(1)", { words: MYSQL, input: MYSQL, by: "a command such as \\!" }),
  starts("mysql mariadb mycli", "mysql(1)", { options: "--pager --tee --init-command" }),
  loads(
    "mysql mariadb mysqldump mariadb-dump mysqladmin mariadb-admin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlbinlog mysqlpump mysql_upgrade",
    "mysql(1)",
    { options: "--plugin-dir --default-auth --defaults-file --defaults-extra-file --defaults-group-suffix" },
  ),
  starts("mysqlslap", "mysqlslap(1)", { options: "--pre-system --post-system" }),
  runs("mysqlsh", "mysqlsh(1)", { options: "--py --js --python --javascript -e --execute -f --file", input: true }),
  starts("psql pgcli", "psql(1)", { words: BACKSLASH, input: BACKSLASH, by: "a command such as \\!" }),
  starts("psql pgcli", "psql(1)", { words: /^-\w*o\s*\||^\s*\|/, by: "-o |program" }),
  runs("psql", "psql(1): its files may hold \\!", { options: "-f --file" }),
  runs("psql", "psql(1): variables such as EDITOR and PROMPT1", { options: "-v --set --variable" }),
  starts("pg_ctl initdb pg_ctlcluster postgres", "pg_ctl(1)", { always: true, unless: "status" }),
  starts("pg_basebackup pg_receivewal pg_restore pg_rewind", "pg_basebackup(1)", { options: "--target" }),
  starts("pg_upgrade pg_regress pg_autoctl patroni", "pg_upgrade(1)", { always: true }),
  runs("pg_rewind", "pg_rewind(1)", { options: "--config-file" }),
  runs("pgbench", "pgbench(1): its scripts may hold \\shell", { options: "-f --file" }),
  runs("mongo mongosh", "mongosh(1)", {
    options: "--eval -f --file --shell",
    input: true,
    operands: "--host --port -u -p --username --password",
  }),
  loads("redis-server valkey-server", "redis-server --help", { options: "--loadmodule --module" }),
  loads("mysqld mariadbd mysqld_safe mariadbd-safe", "mysqld(8)", {
    options:
      "--plugin-load --plugin-load-add --early-plugin-load --plugin-dir --init-file --mysqld --ledir --malloc-lib",
  }),
  loads("sqldiff", "sqldiff --help", { options: "-L --lib" }),
  runs("sqlite3_analyzer", "sqlite3_analyzer --help", { options: "--tclsh" }),
  starts("sqitch", "sqitch-configuration(1)", { options: "--client", verbs: "config" }),
  loads("flyway", "flyway help", {
    words: /^-(?:jarDirs|callbacks|resolvers|configFiles)=/,
    by: "-jarDirs",
  }),
  loads("liquibase", "liquibase --help", { options: "--classpath --driver --database-class --driver-properties-file" }),
  loads("knex", "knex --help", { options: "--knexfile --require --esm --import" }),
  leaves("redis-cli valkey-cli", "redis-cli(1)", {
    verbs: "module, config, eval, script, debug, slaveof, replicaof, migrate, function",
    options: "--eval --rdb --pipe --functions-rdb",
  }),
  leaves("redis-cli valkey-cli", "redis-cli(1)", { input: true }),
  edits("sqlplus sqlcl isql osql sqlcmd usql rlsql bconsole", "sqlplus(1): `host` and `!`", { always: true }),
  starts("clickhouse clickhouse-client clickhouse-local", "clickhouse(1)", {
    words: /\bexecutable\s*\(|into\s+outfile/i,
    options: "--config-file -C",
    by: "executable()",
  }),
  runs("cqlsh impala-shell beeline hive spark-sql presto trino influx", "beeline(1)", {
    options: "-f --file -i --init --cqlshrc --jars --packages",
    words: /(?:^|;)\s*(?:!|source|shell)/i,
    input: true,
    by: "!",
  }),
  runs("spark-submit spark-shell pyspark", "spark-submit(1)", { always: true }),
  edits("ldapvi", "ldapvi(1)", { always: true }),
  starts("debugfs", "debugfs(8)", { options: "-f -R", words: /^!/, input: true }),
  edits("tdbtool ginsh", "gp(1), maxima(1)", { input: true, options: "-f --batch-string -q", operands: "-f" }),
  starts("consul", "consul(1)", { verbs: "exec, watch, lock, connect" }),
  starts("vault", "vault(1)", { verbs: "agent, ssh, server, plugin" }),
  starts("etcdctl", "etcdctl(1)", { verbs: "watch, lock" }),
];
