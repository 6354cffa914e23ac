/** Formats of databases that are services, and passwords in the strings that open a connection. */
import { isReference, looksLikeStandIn } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Rules for databases. */
export const DATABASE_RULES: readonly Rule[] = [
  tokens("planetscale-secret", "a PlanetScale secret", {
    prefixes: ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
    body: "[A-Za-z0-9_.=-]{32,64}",
    samples: ["pscale_tkn_{u43}", "pscale_pw_{a43}"],
  }),
  token("neon-key", "a Neon key", { prefix: "napi_", body: "[a-z0-9]{64}", sample: "{l64}" }),
  token("cockroachdb-key", "a CockroachDB key", {
    prefix: "CCDB1_",
    body: "[A-Za-z0-9]{22}_[A-Za-z0-9]{40}",
    sample: "{a22}_{a40}",
  }),
  token("mongodb-atlas-secret", "a MongoDB Atlas secret", {
    prefix: "mdb_sa_sk_",
    body: "[A-Za-z0-9_-]{40}",
    sample: "{u40}",
  }),
  token("xata-key", "a Xata key", { prefix: "xau_", body: "[A-Za-z0-9]{32,44}", sample: "{a36}" }),
  token("clickhouse-key", "a ClickHouse Cloud key", {
    prefix: "4b1d",
    body: "[A-Za-z0-9]{38}(?![A-Za-z0-9])",
    sample: "{a38}",
    left: "token",
    entropyMin: 4.3,
  }),
  token("influxdb-token", "an InfluxDB token in a header", {
    prefix: "Authorization: Token ",
    body: "[A-Za-z0-9_-]{86}==",
    sample: "{u86}==",
  }),
  token("fauna-secret", "a Fauna secret", {
    prefix: "fnA",
    body: "[A-Za-z0-9_-]{37,40}(?![A-Za-z0-9_-])",
    sample: "{u37}",
    left: "token",
    entropyMin: 4,
  }),
  token("convex-key", "a Convex deploy key", {
    prefix: "prod:",
    body: "[a-z]{2,16}-[a-z]{2,16}-\\d{1,4}\\|[A-Za-z0-9+/=]{40,200}",
    sample: "happy-otter-123|eyJ2MiI6I{a60}",
  }),
  token("prisma-key", "a Prisma key", {
    prefix: "prisma://",
    body: "[a-z.-]{4,80}/\\?api_key=[A-Za-z0-9_.-]{20,1000}",
    sample: "accelerate.prisma-data.net/?api_key={a60}",
  }),
  {
    id: "connection-password",
    kind: "definite",
    title: "a password in a connection string",
    keywords: [";password=", ";pwd=", "; password=", "; pwd="],
    expression: ";\\s?(?:password|pwd)=([^;\"'\\s<>`]{4,128})",
    caseInsensitive: true,
    left: "any",
    check: (secret) =>
      isReference(secret) ||
      looksLikeStandIn(secret) ||
      /^(?:p(?:ass)?w(?:or)?d|secret|root|sa|admin)\d{0,3}$/i.test(secret)
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
