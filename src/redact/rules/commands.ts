/** Passwords of command lines, behind letters that say no word, and of statements. */
import { judgeCertain, judgePassword } from "../kinds/address-login.ts";
import type { Rule } from "../kinds/rule.ts";

/** The options with which commands are given a password, attached to the letter or behind it. */
export const PASSWORD_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  mysql: ["-p"],
  mysqldump: ["-p"],
  mysqladmin: ["-p"],
  mariadb: ["-p"],
  sshpass: ["-p"],
  "redis-cli": ["-a", "--pass"],
  docker: ["-p"],
  podman: ["-p", "--creds"],
  skopeo: ["--creds", "--src-creds", "--dest-creds"],
  helm: ["--password"],
  mongo: ["-p"],
  mongosh: ["-p"],
  mongodump: ["-p"],
  mongorestore: ["-p"],
  sqlcmd: ["-P"],
  bcp: ["-P"],
  ldapsearch: ["-w"],
  ldapadd: ["-w"],
  ldapmodify: ["-w"],
  zip: ["-P"],
  unzip: ["-P"],
  "7z": ["-p"],
  openssl: ["-k"],
  smbclient: ["-U"],
  rpcclient: ["-U"],
  az: ["-p"],
  lftp: ["-u"],
  cqlsh: ["-p"],
  influx: ["-p"],
  clickhouse: ["--password"],
  rabbitmqadmin: ["-p"],
  snmpwalk: ["-A", "-X"],
};

/** Rules for statements. */
export const COMMAND_RULES: readonly Rule[] = [
  {
    id: "sql-password",
    kind: "definite",
    title: "a password in a statement of SQL",
    keywords: ["identified by ", "identified with "],
    expression: "identified (?:with [\\w']{1,48} )?by (?:password )?['\"]([^'\"\\n]{4,128})['\"]",
    caseInsensitive: true,
    // a column is identified by its name
    check: (secret) => (/[^A-Za-z_]/.test(secret) ? judgeCertain(secret) : undefined),
    examples: {
      positive: [
        "CREATE USER 'app'@'%' IDENTIFIED BY '{a16}';",
        "alter user x identified with mysql_native_password by '{a16}'",
      ],
      negative: ["IDENTIFIED BY 'password'", "identified by the name", "IDENTIFIED BY '$PASSWORD'"],
    },
  },
  {
    id: "powershell-password",
    kind: "probable",
    title: "a password in plain text for PowerShell",
    keywords: ["convertto-securestring "],
    expression: "convertto-securestring (?:-string )?[\"']([^\"'\\n]{4,128})[\"']",
    caseInsensitive: true,
    check: (secret) => judgeCertain(secret) && "probable",
    examples: {
      positive: ['$p = ConvertTo-SecureString "{a14}" -AsPlainText -Force', "ConvertTo-SecureString -String '{a20}'"],
      negative: ["ConvertTo-SecureString $env:PASSWORD", 'ConvertTo-SecureString "<password>"'],
    },
  },
  {
    id: "redis-configured-password",
    kind: "definite",
    title: "a password in the configuration of Redis",
    keywords: ["requirepass ", "masterauth "],
    expression: '(?:requirepass|masterauth) {1,4}"?([^\\s"]{6,256})',
    check: (secret) => judgePassword(secret),
    examples: {
      positive: ["requirepass {a24}\n", 'masterauth "{a24}"'],
      negative: ["requirepass <password>", "# requirepass <password>"],
    },
  },
];
