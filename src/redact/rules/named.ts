/** Keys of services whose format is only a length: the name beside them tells what they are. */

import type { NamedRule } from "../kinds/named-rule.ts";
import type { FindingKind } from "../search/finding.ts";

/** Sixteen random bytes, or a digest, in hexadecimal. */
export const HEX32 = "[0-9a-f]{32}";
/** The same of twenty bytes. */
export const HEX40 = "[0-9a-f]{40}";
const HEX64 = "[0-9a-f]{64}";
/** A UUID in either case. */
export const UUID = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

/** The form of keys that a name tells. */
interface NamedForm extends Pick<NamedRule, "names" | "expression" | "isAnyones"> {
  /** An assignment as it stands in an environment file; of its value see `samples.ts`. */
  readonly example: `${string}=${string}`;
  readonly kind?: FindingKind;
}

/** A rule for values whose name holds one of `names`. */
export function named(id: string, title: string, { example, kind = "definite", ...form }: NamedForm): NamedRule {
  const equals = example.indexOf("=");
  const [key, sample] = [example.slice(0, equals), example.slice(equals + 1)];
  return {
    id,
    kind,
    title,
    ...form,
    examples: {
      positive: [`${key}=${sample}`, `"${key}": "${sample}"`, `${key.toLowerCase()}: ${sample}\n`],
      negative: [`${key}=your-key`, `${key} = process.env.${key}`, `${key}=\${${key}}`],
    },
  };
}

/** Rules for values that their name makes a secret. */
export const NAMED_RULES: readonly NamedRule[] = [
  named("hubspot-key", "a HubSpot key", { names: ["hubspot"], expression: UUID, example: "HUBSPOT_API_KEY={uuid}" }),
  named("dropbox-secret", "a Dropbox secret", {
    names: ["dropbox"],
    expression: "[a-z0-9]{15}",
    example: "DROPBOX_APP_SECRET={l15}",
  }),
  named("sidekiq-secret", "a Sidekiq licence", {
    names: ["sidekiq"],
    expression: "[0-9a-f]{8}:[0-9a-f]{8}",
    example: "SIDEKIQ_SECRET={h8}:{h8}",
  }),
  named("aws-secret-key", "an AWS secret access key", {
    names: ["awssecret", "secretaccesskey", "awssecretkey"],
    expression: "[A-Za-z0-9/+]{40}",
    example: "AWS_SECRET_ACCESS_KEY={b40}",
  }),
  named("aws-session-token", "an AWS session token", {
    names: ["awssessiontoken", "awssecuritytoken"],
    expression: "[A-Za-z0-9/+=]{100,512}",
    example: "AWS_SESSION_TOKEN={b300}",
  }),
  named("datadog-key", "a Datadog key", {
    names: ["datadog", "ddapikey", "ddappkey", "ddapplicationkey"],
    expression: `${HEX32}|${HEX40}`,
    example: "DD_API_KEY={h32}",
  }),
  named("heroku-key", "a Heroku key", { names: ["heroku"], expression: UUID, example: "HEROKU_API_KEY={uuid}" }),
  named("cloudflare-key", "a Cloudflare key", {
    names: ["cloudflare", "cfapikey", "cfapitoken"],
    expression: "[0-9a-f]{37}|[A-Za-z0-9_-]{40}",
    example: "CLOUDFLARE_API_TOKEN={u40}",
  }),
  named("fastly-key", "a Fastly key", {
    names: ["fastly"],
    expression: "[A-Za-z0-9_-]{32}",
    example: "FASTLY_API_KEY={u32}",
  }),
  named("azure-key", "a key of an Azure service", {
    names: ["azure", "armclientsecret", "ocpapim"],
    expression: `${HEX32}|[A-Za-z0-9+/]{42,86}={1,2}|[A-Za-z0-9]{84}|[A-Za-z0-9~._-]{34,44}`,
    example: "AZURE_API_KEY={h32}",
  }),
  named("algolia-key", "an Algolia key", { names: ["algolia"], expression: HEX32, example: "ALGOLIA_ADMIN_KEY={h32}" }),
  named("twilio-secret", "a Twilio secret", {
    names: ["twilio"],
    expression: `${HEX32}|[A-Za-z0-9]{32}`,
    example: "TWILIO_AUTH_TOKEN={h32}",
  }),
  named("vercel-key", "a Vercel token", {
    names: ["vercel", "zeittoken"],
    expression: "[A-Za-z0-9]{24}",
    example: "VERCEL_TOKEN={a24}",
  }),
  named("netlify-key", "an old Netlify token", {
    names: ["netlify"],
    expression: "[A-Za-z0-9_-]{40,46}",
    example: "NETLIFY_AUTH_TOKEN={u43}",
  }),
  named("snyk-token", "a Snyk token", { names: ["snyk"], expression: UUID, example: "SNYK_TOKEN={uuid}" }),
  named("codecov-token", "a Codecov token", {
    names: ["codecov"],
    expression: `${UUID}|${HEX32}`,
    example: "CODECOV_TOKEN={uuid}",
  }),
  named("travis-token", "a Travis CI token", {
    names: ["travis"],
    expression: "[A-Za-z0-9_-]{20,24}",
    example: "TRAVIS_TOKEN={a22}",
  }),
  named("circle-key", "an old CircleCI token", { names: ["circle"], expression: HEX40, example: "CIRCLE_TOKEN={h40}" }),
  named("jenkins-token", "a Jenkins token", {
    names: ["jenkins"],
    expression: `11[0-9a-f]{32}|${HEX32}`,
    example: "JENKINS_API_TOKEN={h32}",
  }),
  named("github-named-token", "an old GitHub token", {
    names: ["githubtoken", "ghtoken", "githubpat", "githubsecret", "githubclientsecret"],
    expression: HEX40,
    example: "GITHUB_TOKEN={h40}",
  }),
  named("gitea-named-token", "a Gitea token", {
    names: ["gitea", "forgejo", "gogs"],
    expression: HEX40,
    example: "GITEA_TOKEN={h40}",
  }),
  named("bitbucket-secret", "a Bitbucket secret", {
    names: ["bitbucket"],
    expression: "[A-Za-z0-9_=-]{32,64}",
    example: "BITBUCKET_CLIENT_SECRET={a32}",
  }),
  named("mailgun-named-key", "a Mailgun key", {
    names: ["mailgun"],
    expression: "(?:key-)?[0-9a-f]{32}(?:-[0-9a-f]{8}-[0-9a-f]{8})?",
    example: "MAILGUN_API_KEY={h32}-{h8}-{h8}",
  }),
  named("postmark-token", "a Postmark token", {
    names: ["postmark"],
    expression: UUID,
    example: "POSTMARK_SERVER_TOKEN={uuid}",
  }),
  named("mailjet-key", "a Mailjet key", {
    names: ["mailjet", "mjapikey"],
    expression: HEX32,
    example: "MAILJET_SECRET_KEY={h32}",
  }),
  named("sparkpost-key", "a SparkPost key", {
    names: ["sparkpost"],
    expression: HEX40,
    example: "SPARKPOST_API_KEY={h40}",
  }),
  named("opsgenie-key", "an Opsgenie key", {
    names: ["opsgenie"],
    expression: UUID,
    example: "OPSGENIE_API_KEY={uuid}",
  }),
  named("pagerduty-named-token", "a PagerDuty token", {
    names: ["pagerduty", "pdtoken"],
    expression: "[uyew]\\+[A-Za-z0-9_-]{18}|[A-Za-z0-9_-]{20}|[0-9a-f]{32}",
    example: "PAGERDUTY_TOKEN=u+{u18}",
  }),
  named("sentry-named-token", "a Sentry token", {
    names: ["sentry"],
    expression: HEX64,
    example: "SENTRY_AUTH_TOKEN={h64}",
  }),
  named("rollbar-token", "a Rollbar token", {
    names: ["rollbar"],
    expression: HEX32,
    example: "ROLLBAR_ACCESS_TOKEN={h32}",
  }),
  named("bugsnag-key", "a Bugsnag key", { names: ["bugsnag"], expression: HEX32, example: "BUGSNAG_API_KEY={h32}" }),
  named("new-relic-named-key", "a New Relic key", {
    names: ["newrelic"],
    expression: `[A-Za-z0-9_-]{32,47}|${HEX40}`,
    example: "NEW_RELIC_LICENSE_KEY={h40}",
  }),
  named("sumologic-key", "a Sumo Logic key", {
    names: ["sumologic", "sumoaccess"],
    expression: "[A-Za-z0-9]{14}|[A-Za-z0-9]{64}",
    example: "SUMOLOGIC_ACCESS_KEY={a64}",
  }),
  named("splunk-token", "a Splunk token", {
    names: ["splunk", "hectoken"],
    expression: UUID,
    example: "SPLUNK_HEC_TOKEN={uuid}",
  }),
  named("okta-named-token", "an Okta token", {
    names: ["okta"],
    expression: "00[A-Za-z0-9_-]{40}|[A-Za-z0-9_-]{40,64}",
    example: "OKTA_API_TOKEN=00{u40}",
  }),
  named("auth0-secret", "an Auth0 secret", {
    names: ["auth0"],
    expression: "[A-Za-z0-9_-]{32,64}",
    example: "AUTH0_CLIENT_SECRET={u64}",
  }),
  named("cohere-key", "a Cohere key", {
    names: ["cohere", "coapikey"],
    expression: "[A-Za-z0-9]{40}",
    example: "COHERE_API_KEY={a40}",
  }),
  named("mistral-key", "a Mistral key", {
    names: ["mistral", "codestral"],
    expression: "[A-Za-z0-9]{32}",
    example: "MISTRAL_API_KEY={a32}",
  }),
  named("deepgram-key", "a Deepgram key", {
    names: ["deepgram"],
    expression: HEX40,
    example: "DEEPGRAM_API_KEY={h40}",
  }),
  named("assemblyai-key", "an AssemblyAI key", {
    names: ["assemblyai"],
    expression: HEX32,
    example: "ASSEMBLYAI_API_KEY={h32}",
  }),
  named("together-named-key", "an old Together key", {
    names: ["together"],
    expression: HEX64,
    example: "TOGETHER_API_KEY={h64}",
  }),
  named("ai21-key", "an AI21 key", {
    names: ["ai21", "exaapi"],
    expression: `[A-Za-z0-9]{32}|${UUID}`,
    example: "AI21_API_KEY={a32}",
  }),
  named("wandb-named-key", "a Weights & Biases key", {
    names: ["wandb"],
    expression: HEX40,
    example: "WANDB_API_KEY={h40}",
  }),
  named("pinecone-named-key", "an old Pinecone key", {
    names: ["pinecone"],
    expression: UUID,
    example: "PINECONE_API_KEY={uuid}",
  }),
  named("brave-key", "a search key", {
    names: ["bravesearch", "serpapi", "serper", "bingsearch"],
    expression: "[A-Za-z0-9_-]{31,64}",
    example: "SERPAPI_KEY={h64}",
  }),
  named("plaid-secret", "a Plaid secret", {
    names: ["plaid"],
    expression: "[0-9a-f]{24,30}",
    example: "PLAID_SECRET={h30}",
  }),
  named("square-named-key", "a Coinbase key", {
    names: ["coinbase"],
    expression: "[A-Za-z0-9_-]{64}|[A-Za-z0-9]{32}",
    example: "COINBASE_SECRET={a32}",
  }),
  named("gocardless-token", "a GoCardless token", {
    names: ["gocardless"],
    expression: "(?:live|sandbox)_[A-Za-z0-9_=-]{40}",
    example: "GOCARDLESS_TOKEN=live_{u40}",
  }),
  named("checkout-key", "a Checkout.com key", {
    names: ["checkout", "cko"],
    expression: "sk_(?:sbox_)?[a-z2-7]{26}[*#$=a-z0-9]",
    example: "CKO_SECRET_KEY=sk_{z26}=",
  }),
  named("zendesk-token", "a Zendesk token", {
    names: ["zendesk"],
    expression: "[A-Za-z0-9]{40}",
    example: "ZENDESK_API_TOKEN={a40}",
  }),
  named("intercom-named-token", "an Intercom token", {
    names: ["intercom"],
    expression: "[A-Za-z0-9=+/_-]{60}",
    example: "INTERCOM_ACCESS_TOKEN={b60}",
  }),
  named("asana-secret", "an Asana secret", {
    names: ["asana"],
    expression: `${HEX32}|[0-9]/[0-9]{12,17}:${HEX32}`,
    example: "ASANA_CLIENT_SECRET={h32}",
  }),
  named("trello-named-key", "a Trello key", {
    names: ["trello"],
    expression: `${HEX32}|${HEX64}`,
    example: "TRELLO_API_TOKEN={h64}",
  }),
  named("jira-token", "an old Atlassian token", {
    names: ["jira", "atlassian", "confluence"],
    expression: "[A-Za-z0-9]{24}",
    example: "JIRA_API_TOKEN={a24}",
  }),
  named("twitch-secret", "a Twitch secret", {
    names: ["twitch"],
    expression: "[a-z0-9]{30}",
    example: "TWITCH_CLIENT_SECRET={l30}",
  }),
  named("twitter-secret", "a Twitter secret", {
    names: ["twitter", "xapisecret"],
    expression: "[A-Za-z0-9]{25}|[A-Za-z0-9]{45}|[A-Za-z0-9]{50}",
    example: "TWITTER_API_SECRET={a50}",
  }),
  named("facebook-secret", "a Facebook secret", {
    names: ["facebook", "fbsecret", "fbapp"],
    expression: HEX32,
    example: "FACEBOOK_APP_SECRET={h32}",
  }),
  named("linkedin-secret", "a LinkedIn secret", {
    names: ["linkedin"],
    expression: "[A-Za-z0-9]{14,16}|[A-Za-z0-9.=+/]{24,40}",
    example: "LINKEDIN_CLIENT_SECRET={a16}",
  }),
  named("spotify-secret", "a Spotify secret", {
    names: ["spotify"],
    expression: HEX32,
    example: "SPOTIFY_CLIENT_SECRET={h32}",
  }),
  named("discord-secret", "a Discord client secret", {
    names: ["discord"],
    expression: "[A-Za-z0-9_-]{32}",
    example: "DISCORD_CLIENT_SECRET={u32}",
  }),
  named("segment-key", "a Segment key", {
    names: ["segment", "mixpanel", "amplitude"],
    expression: "[A-Za-z0-9]{32}",
    example: "SEGMENT_WRITE_KEY={a32}",
  }),
  named("confluent-secret", "a Confluent secret", {
    names: ["confluent", "kafkaapi"],
    expression: "[A-Za-z0-9+/]{64}",
    example: "CONFLUENT_API_SECRET={b64}",
  }),
  named("mongodb-atlas-key", "a MongoDB Atlas key", {
    names: ["atlas"],
    expression: UUID,
    example: "ATLAS_PRIVATE_KEY={uuid}",
  }),
  named("upstash-token", "an Upstash token", {
    names: ["upstash"],
    expression: "[A-Za-z0-9=_-]{40,180}",
    example: "UPSTASH_REDIS_REST_TOKEN={a60}",
  }),
  named("influxdb-named-token", "an InfluxDB token", {
    names: ["influx"],
    expression: "[A-Za-z0-9_-]{86}==",
    example: "INFLUXDB_TOKEN={u86}==",
  }),
  named("snowflake-password", "a Snowflake password", {
    names: ["snowflake"],
    expression: "[\\x21-\\x7e]{10,128}",
    example: "SNOWFLAKE_PASSWORD={a10}!{a6}",
  }),
  named("supabase-key", "a Supabase service key", {
    names: ["supabase"],
    expression: "[A-Za-z0-9_-]{40,48}",
    example: "SUPABASE_SERVICE_KEY={u44}",
  }),
  named("railway-token", "a Railway token", {
    names: ["railway", "render", "koyeb"],
    expression: `${UUID}|[a-z0-9]{64}`,
    example: "RAILWAY_TOKEN={uuid}",
  }),
  named("linode-key", "a Linode token", { names: ["linode"], expression: HEX64, example: "LINODE_TOKEN={h64}" }),
  named("vultr-key", "a Vultr key", { names: ["vultr"], expression: "[A-Z0-9]{36}", example: "VULTR_API_KEY={U36}" }),
  named("hetzner-token", "a Hetzner token", {
    names: ["hcloud", "hetzner"],
    expression: "[A-Za-z0-9]{64}",
    example: "HCLOUD_TOKEN={a64}",
  }),
  named("scaleway-secret", "a Scaleway secret", {
    names: ["scw", "scaleway"],
    expression: UUID,
    example: "SCW_SECRET_KEY={uuid}",
  }),
  named("ibm-cloud-key", "an IBM Cloud key", {
    names: ["ibmcloud", "iamapikey", "bluemix"],
    expression: "[A-Za-z0-9_-]{44}",
    example: "IBMCLOUD_API_KEY={u44}",
  }),
  named("consul-token", "a Consul or Nomad token", {
    names: ["consul", "nomad"],
    expression: UUID,
    example: "CONSUL_HTTP_TOKEN={uuid}",
  }),
  named("bitwarden-session", "a Bitwarden session", {
    names: ["bwsession", "bitwarden"],
    expression: "[A-Za-z0-9+/]{86}==",
    example: "BW_SESSION={b86}==",
  }),
  named("ethereum-key", "a private key of a wallet", {
    names: ["privatekey", "deployerkey", "walletkey", "walletsecret"],
    expression: "(?:0x)?[0-9a-f]{64}",
    example: "WALLET_PRIVATE_KEY=0x{h64}",
    isAnyones: true,
  }),
  named("uuid-key", "an API key that is a UUID", {
    names: ["apikey", "secretkey", "clientsecret", "accesskey", "accesstoken", "authtoken", "apitoken"],
    expression: UUID,
    example: "MY_SECRET_KEY={uuid}",
    kind: "probable",
    isAnyones: true,
  }),
];
