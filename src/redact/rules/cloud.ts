/** Formats of cloud providers: keys of accounts and services, and tokens of platforms that run applications. */
import { entropyOf } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** The form of keys that carry a mark in the middle. */
interface MarkedForm {
  /** Characters before the mark. */
  readonly before: number;
  readonly mark: string;
  /** The expression of what comes after the mark. */
  readonly rest: string;
  /** Shows such a rest, see `samples.ts`. */
  readonly sample: string;
}

/** Keys of Azure's newer services carry a mark in the middle. */
const marked = (id: string, title: string, { before, mark, rest, sample }: MarkedForm): Rule => ({
  id,
  kind: "definite",
  title,
  keywords: [mark],
  offset: before,
  expression: `[A-Za-z0-9+/_-]{${before}}${mark.replace("+", "\\+")}${rest}`,
  left: "any",
  examples: {
    positive: [`{a${before}}${mark}${sample}`, `key: "{a${before}}${mark}${sample}"`],
    negative: [mark, `the mark ${mark} of a key`, `.{a12}${mark}${sample}`],
  },
});

/** Rules for cloud providers. */
export const CLOUD_RULES: readonly Rule[] = [
  tokens("aws-access-key-id", "an AWS access key id", {
    prefixes: ["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"],
    body: "[A-Z2-7]{16}(?![A-Za-z0-9])",
    samples: ["AKIA{t16}", "ASIA{t16}"],
    check: (secret) => (/^(?:AROA|AIDA)/.test(secret) ? "probable" : entropyOf(secret) < 2.5 ? "probable" : "definite"),
  }),
  token("aws-bedrock-key", "an Amazon Bedrock API key", {
    prefix: "ABSK",
    body: "[A-Za-z0-9+/]{100,270}={0,2}",
    sample: "{b132}",
  }),
  token("aws-marketplace-key", "an Amazon marketplace key", {
    prefix: "amzn.mws.",
    body: "[0-9a-f]{8}-[0-9a-f-]{27}",
    sample: "{uuid}",
  }),
  token("gcp-api-key", "a Google API key", {
    prefix: "AIza",
    body: "[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])",
    sample: "{u35}",
  }),
  token("gcp-oauth-secret", "a Google OAuth client secret", {
    prefix: "GOCSPX-",
    body: "[A-Za-z0-9_-]{28}",
    sample: "{u28}",
  }),
  token("gcp-access-token", "a Google OAuth access token", {
    prefix: "ya29.",
    body: "[A-Za-z0-9_-]{20,1024}",
    sample: "{u130}",
  }),
  token("gcp-refresh-token", "a Google OAuth refresh token", {
    prefix: "1//0",
    body: "[A-Za-z0-9_-]{40,255}",
    sample: "{u60}",
    entropyMin: 4,
  }),
  {
    id: "azure-storage-key",
    kind: "definite",
    title: "a key of an Azure storage account or database",
    keywords: ["AccountKey=", "SharedAccessKey=", "AccessKey="],
    expression: "(?:Account|SharedAccess|Access)Key=([A-Za-z0-9+/]{42,86}={1,2})",
    caseInsensitive: true,
    left: "any",
    examples: {
      positive: [
        "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={b86}==;EndpointSuffix=core.windows.net",
        "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey={b43}=",
      ],
      negative: ["AccountKey=<key>;", "SharedAccessKey=...", "AccountKey=$KEY"],
    },
  },
  {
    id: "azure-sas-signature",
    kind: "definite",
    title: "the signature of an Azure shared access link",
    keywords: ["sig="],
    expression: "sig=([A-Za-z0-9/+]{43}=|[A-Za-z0-9%]{43,90}%3[Dd]|[A-Za-z0-9_-]{43}(?![A-Za-z0-9_=-]))",
    check: (secret) => (entropyOf(secret) > 3.8 ? "definite" : undefined),
    examples: {
      positive: ["https://x.blob.core.windows.net/c?sv=2022-11-02&sp=r&sig={a43}%3D", "?sig={b43}=&se=2030"],
      negative: ["sig=abc", "sig=..."],
    },
  },
  {
    id: "azure-client-secret",
    kind: "definite",
    title: "a client secret of Microsoft Entra",
    keywords: ["Q~"],
    offset: 4,
    expression: "[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])",
    left: "any",
    examples: { positive: ["client {a3}8Q~{a34}", 'secret = "{a3}7Q~{a31}"'], negative: ["8Q~", "abc8Q~short"] },
  },
  marked("azure-devops-token", "an Azure DevOps personal access token", {
    before: 76,
    mark: "AZDO",
    rest: "[A-Za-z0-9]{4}",
    sample: "{a4}",
  }),
  marked("azure-annotated-key", "a key of an Azure service", {
    before: 52,
    mark: "JQQJ99",
    rest: "[A-Za-z0-9]{26}",
    sample: "{a26}",
  }),
  marked("azure-search-key", "a key of Azure AI Search", {
    before: 42,
    mark: "AzSe",
    rest: "[A-D][A-Za-z0-9]{5}",
    sample: "A{a5}",
  }),
  marked("azure-functions-key", "a key of Azure Functions", {
    before: 44,
    mark: "AzFu",
    rest: "[A-Za-z0-9_-]{5}[AQgw]==",
    sample: "{a5}A==",
  }),
  marked("azure-registry-key", "a key of an Azure container registry", {
    before: 42,
    mark: "+ACR",
    rest: "[A-D][A-Za-z0-9+/]{5}",
    sample: "A{a5}",
  }),
  marked("azure-cosmos-key", "a key of Azure Cosmos DB", {
    before: 76,
    mark: "ACDb",
    rest: "[A-Za-z0-9+/]{5}[AQgw]==",
    sample: "{a5}A==",
  }),
  marked("azure-account-key", "a key of an Azure storage account", {
    before: 76,
    mark: "+ASt",
    rest: "[A-Za-z0-9+/]{5}[AQgw]==",
    sample: "{a5}A==",
  }),
  marked("azure-iot-key", "a key of an Azure IoT hub", {
    before: 33,
    mark: "AIoT",
    rest: "[A-P][A-Za-z0-9+/]{5}=",
    sample: "A{a5}=",
  }),
  tokens("alibaba-access-key", "an Alibaba Cloud access key id", {
    prefixes: ["LTAI"],
    body: "[A-Za-z0-9]{12,24}(?![A-Za-z0-9])",
    samples: ["LTAI{a20}"],
    entropyMin: 3,
  }),
  token("tencent-secret-id", "a Tencent Cloud secret id", {
    prefix: "AKID",
    body: "[A-Za-z0-9]{32}(?![A-Za-z0-9])",
    sample: "{a32}",
    entropyMin: 3.5,
  }),
  tokens("digitalocean-token", "a DigitalOcean token", {
    prefixes: ["dop_v1_", "doo_v1_", "dor_v1_"],
    body: "[0-9a-f]{64}",
    samples: ["dop_v1_{h64}", "doo_v1_{h64}"],
  }),
  tokens("heroku-api-key", "a Heroku API key", {
    prefixes: ["HRKU-"],
    body: "[A-Za-z0-9_-]{36,80}",
    samples: ["HRKU-{uuid}", "HRKU-AA{u58}"],
  }),
  tokens("netlify-token", "a Netlify access token", {
    prefixes: ["nfp_", "nfo_", "nfc_"],
    body: "[A-Za-z0-9]{36,60}",
    samples: ["nfp_{a36}"],
  }),
  tokens("vercel-token", "a Vercel token", {
    prefixes: ["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"],
    body: "[A-Za-z0-9_]{24,80}",
    samples: ["vcp_{a56}"],
    left: "token",
    entropyMin: 3.5,
  }),
  token("cloudflare-origin-key", "a Cloudflare origin CA key", {
    prefix: "v1.0-",
    body: "[0-9a-f]{24}-[0-9a-f]{146}",
    sample: "{h24}-{h146}",
  }),
  tokens("fly-token", "a Fly.io access token", {
    prefixes: ["fm1r_", "fm1a_", "fm2_"],
    body: "[A-Za-z0-9+/]{60,700}={0,3}",
    samples: ["fm2_{b200}", "fm1r_{b100}"],
  }),
  token("fly-deploy-token", "a Fly.io deploy token", { prefix: "fo1_", body: "[A-Za-z0-9_-]{43}", sample: "{u43}" }),
  token("render-key", "a Render API key", {
    prefix: "rnd_",
    body: "[A-Za-z0-9]{28,40}",
    sample: "{a32}",
    entropyMin: 3.5,
  }),
  tokens("yandex-cloud-key", "a Yandex Cloud key", {
    prefixes: ["AQVN", "YCAJ", "YCN", "YCM"],
    body: "[A-Za-z0-9_-]{21,40}(?![A-Za-z0-9_-])",
    samples: ["AQVN{u36}"],
    left: "token",
    entropyMin: 4,
    kind: "probable",
  }),
  token("scaleway-access-key", "a Scaleway access key", {
    prefix: "SCW",
    body: "[A-Z0-9]{17}(?![A-Za-z0-9])",
    sample: "{U17}",
    entropyMin: 3.2,
    kind: "probable",
  }),
  token("terraform-cloud-token", "a Terraform Cloud token", {
    prefix: "atlasv1.",
    body: "[A-Za-z0-9_=-]{60,70}",
    sample: "{a67}",
    left: "any",
  }),
  token("aiven-password", "an Aiven service password", { prefix: "AVNS_", body: "[A-Za-z0-9_-]{19}", sample: "{a19}" }),
  token("scalingo-token", "a Scalingo token", { prefix: "tk-us-", body: "[A-Za-z0-9_-]{48}", sample: "{a48}" }),
  token("prefect-key", "a Prefect key", { prefix: "pnu_", body: "[A-Za-z0-9]{36}", sample: "{a36}" }),
  token("databricks-token", "a Databricks access token", {
    prefix: "dapi",
    body: "[0-9a-f]{32}(?:-\\d)?(?![A-Za-z0-9])",
    sample: "{h32}",
  }),
  tokens("databricks-secret", "a Databricks OAuth secret", {
    prefixes: ["dose", "dsapi"],
    body: "[0-9a-f]{32}(?![A-Za-z0-9])",
    samples: ["dose{h32}"],
  }),
  tokens("pulumi-token", "a Pulumi access token", { prefixes: ["pul-"], body: "[0-9a-f]{40}", samples: ["pul-{h40}"] }),
  token("yandex-iam-token", "a Yandex Cloud IAM token", {
    prefix: "t1.",
    body: "[A-Z0-9a-z_-]{10,400}={0,2}\\.[A-Za-z0-9_-]{86}={0,2}",
    sample: "{u60}.{u86}",
    left: "token",
  }),
];
