/** Contexts on command lines and in addresses, where the place says what the value is. */
import { type Context, inAddress, inQuotes, inShell } from "./context.ts";

const place = (title: string, write: (value: string) => string): Context => ({
  cue: "place",
  title,
  write: (_name, value) => write(value),
  excludes: /[\s"'`$\\;&|<>(){}#!*?[\]]/,
});
const quoted = (title: string, write: (value: string) => string): Context => ({
  cue: "place",
  title,
  write: (_name, value) => write(value),
  escape: inShell,
});
const address = (title: string, write: (value: string) => string): Context => ({
  cue: "place",
  title,
  write: (_name, value) => write(value),
  escape: inAddress,
});
const header = /[^\x21-\x7e]|["\\]/;

const KEYS_ONLY = /key|token|URL user name|Bearer/i;

/** All of them. */
export const COMMANDS: readonly Context[] = listed().map(
  (context): Context => (KEYS_ONLY.test(context.title) ? { ...context, keysOnly: true } : context),
);

function listed(): readonly Context[] {
  return [
    place("mysql -p", (value) => `mysql -h db.local -u app -p${value} shop < dump.sql\n`),
    quoted("mysql --password, quotes", (value) => `mysqldump --user=app --password='${value}' shop > dump.sql\n`),
    place("sshpass -p", (value) => `sshpass -p ${value} ssh deploy@10.0.0.4 uptime\n`),
    quoted("sshpass -p, quotes", (value) => `sshpass -p '${value}' scp a.tar deploy@10.0.0.4:/srv\n`),
    place("redis-cli -a", (value) => `redis-cli -h cache.local -a ${value} ping\n`),
    place("docker login -p", (value) => `docker login -u bot -p ${value} registry.example.com\n`),
    quoted("docker login by echo", (value) => `echo '${value}' | docker login -u bot --password-stdin\n`),
    place("PGPASSWORD before psql", (value) => `PGPASSWORD=${value} psql -h db.local -U app -c 'select 1'\n`),
    quoted("curl -u", (value) => `curl -u 'bot:${value}' https://api.example.com/v1/items\n`),
    place("curl -u, no quotes", (value) => `curl -s -u bot:${value} https://api.example.com/v1/items\n`),
    place("curl -u, key as user", (value) => `curl https://api.example.com/v1/charges -u ${value}:\n`),
    {
      ...quoted(
        "curl Authorization: Bearer",
        (value) => `curl -H 'Authorization: Bearer ${value}' https://api.example.com\n`,
      ),
      excludes: header,
    },
    {
      ...quoted(
        "curl Authorization: token",
        (value) => `curl -H "Authorization: token ${value}" https://api.example.com\n`,
      ),
      excludes: header,
    },
    {
      ...quoted("curl X-Api-Key", (value) => `curl -H 'X-Api-Key: ${value}' https://api.example.com/v2\n`),
      excludes: header,
    },
    {
      cue: "place",
      title: "Basic authorization",
      write: (_name, value) => `Authorization: Basic ${value}\n`,
      escape: (value) => Buffer.from(`bot:${value}`).toString("base64").replace(/=+$/, ""),
    },
    place("--token option", (value) => `deploy --env prod --token ${value} --wait\n`),
    place("--password= option", (value) => `./install.sh --user admin --password=${value} --yes\n`),
    place("--api-key option", (value) => `dotnet nuget push a.nupkg --api-key ${value} --source feed\n`),
    place("smbclient user%password", (value) => `smbclient //nas/share -U bot%${value} -c ls\n`),
    place("openssl -passin", (value) => `openssl pkcs12 -in a.p12 -passin pass:${value} -nodes\n`),
    place("keytool -storepass", (value) => `keytool -list -keystore a.jks -storepass ${value}\n`),
    place("ldapsearch -w", (value) => `ldapsearch -x -D cn=admin,dc=example -w ${value} -b dc=example\n`),
    place("mongo -p", (value) => `mongosh --host db.local -u admin -p ${value} --authenticationDatabase admin\n`),
    place("sqlcmd -P", (value) => `sqlcmd -S db.local -U sa -P ${value} -Q "select 1"\n`),
    address("URL password", (value) => `git clone https://bot:${value}@git.example.com/team/app.git\n`),
    address("URL user name", (value) => `git remote add origin https://${value}@git.example.com/team/app.git\n`),
    address(
      "URL query token",
      (value) => `GET https://api.example.com/v1/items?page=2&access_token=${value}&sort=asc\n`,
    ),
    address("URL query api_key", (value) => `https://api.example.com/data?api_key=${value}\n`),
    address("PostgreSQL URI", (value) => `DATABASE_URL=postgres://app:${value}@db.local:5432/app?sslmode=require\n`),
    address("AMQP URI", (value) => `broker: amqp://guest:${value}@mq.local:5672/%2f\n`),
    address("Redis URI without user", (value) => `redis://:${value}@cache.local:6379/1\n`),
    address("pip.conf index-url", (value) => `[global]\nindex-url = https://bot:${value}@pypi.example.com/simple\n`),
    {
      cue: "place",
      title: "ADO.NET connection string",
      write: (_name, value) => `"Server=db;Database=app;User Id=sa;Password=${value};Encrypt=true"`,
      excludes: /[;"'\s\\=]/,
    },
    {
      cue: "place",
      title: "libpq key/value string",
      write: (_name, value) => `dsn = "host=db user=app password=${value} dbname=app"\n`,
      excludes: /[\s"'\\]/,
    },
    {
      cue: "place",
      title: "PowerShell SecureString",
      write: (_name, value) => `$p = ConvertTo-SecureString "${value}" -AsPlainText -Force\n`,
      escape: inQuotes,
    },
  ];
}
