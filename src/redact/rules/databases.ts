/** Formats of databases that are services, and passwords in the strings that open a connection. */
import { isReference, looksLikeStandIn } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for databases. */
export const DATABASE_RULES: readonly Rule[] = [
  tokens("planetscale-secret", "a PlanetScale secret", ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"], "[A-Za-z0-9_.=-]{32,64}", [
    "pscale_tkn_{u43}",
    "pscale_pw_{a43}",
  ]),
  token("neon-key", "a Neon key", "napi_", "[a-z0-9]{64}", "{l64}"),
  token("cockroachdb-key", "a CockroachDB key", "CCDB1_", "[A-Za-z0-9]{22}_[A-Za-z0-9]{40}", "{a22}_{a40}"),
  token("mongodb-atlas-secret", "a MongoDB Atlas secret", "mdb_sa_sk_", "[A-Za-z0-9_-]{40}", "{u40}"),
  token("xata-key", "a Xata key", "xau_", "[A-Za-z0-9]{32,44}", "{a36}"),
  token("clickhouse-key", "a ClickHouse Cloud key", "4b1d", "[A-Za-z0-9]{38}(?![A-Za-z0-9])", "{a38}", { left: "token", entropyMin: 4.3 }),
  token("influxdb-token", "an InfluxDB token in a header", "Authorization: Token ", "[A-Za-z0-9_-]{86}==", "{u86}=="),
  token("fauna-secret", "a Fauna secret", "fnA", "[A-Za-z0-9_-]{37,40}(?![A-Za-z0-9_-])", "{u37}", { left: "token", entropyMin: 4 }),
  token(
    "convex-key",
    "a Convex deploy key",
    "prod:",
    "[a-z]{2,16}-[a-z]{2,16}-\\d{1,4}\\|[A-Za-z0-9+/=]{40,200}",
    "happy-otter-123|eyJ2MiI6I{a60}",
  ),
  token(
    "prisma-key",
    "a Prisma key",
    "prisma://",
    "[a-z.-]{4,80}/\\?api_key=[A-Za-z0-9_.-]{20,1000}",
    "accelerate.prisma-data.net/?api_key={a60}",
  ),
  {
    id: "connection-password",
    kind: "definite",
    title: "a password in a connection string",
    keywords: [";password=", ";pwd=", "; password=", "; pwd="],
    expression: ";\\s?(?:password|pwd)=([^;\"'\\s<>`]{4,128})",
    caseInsensitive: true,
    left: "any",
    check: (secret) =>
      isReference(secret) || looksLikeStandIn(secret) || /^(?:p(?:ass)?w(?:or)?d|secret|root|sa|admin)\d{0,3}$/i.test(secret)
        ? undefined
        : /\d/.test(secret) && /[A-Za-z]/.test(secret)
          ? "definite"
          : "probable",
    examples: {
      positive: ["Server=db;Database=x;User Id=sa;Password={a16};Encrypt=true", "Host=h;Username=u;pwd={a12}"],
      negative: ["Server=db;Password=password;", "Server=db;User Id=u;Password=\x24{PW};", ";password=<secret>"],
    },
  },
];
