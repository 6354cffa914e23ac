/** Formats of cloud providers: keys of accounts and services, and tokens of platforms that run applications. */
import { entropyOf } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** Keys of Azure's newer services carry a mark in the middle, `before` characters from their beginning. */
const marked = (id: string, title: string, before: number, mark: string, rest: string, sample: string): Rule => ({
  id,
  kind: "definite",
  title,
  keywords: [mark],
  offset: before,
  expression: `[A-Za-z0-9+/_-]{${before}}${mark.replace("+", "\\+")}${rest}`,
  left: "any",
  examples: {
    positive: [`{a${before}}${mark}${sample}`, `key: "{a${before}}${mark}${sample}"`],
    negative: [mark, `the mark ${mark} of a key`, `{a12}${mark}${sample}`],
  },
});

/** Rules for cloud providers. */
export const CLOUD_RULES: readonly Rule[] = [
  tokens(
    "aws-access-key-id",
    "an AWS access key id",
    ["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"],
    "[A-Z2-7]{16}(?![A-Za-z0-9])",
    ["AKIA{t16}", "ASIA{t16}"],
    {
      check: (secret) => (/^(?:AROA|AIDA)/.test(secret) ? "probable" : entropyOf(secret) < 2.5 ? "probable" : "definite"),
    },
  ),
  token("aws-bedrock-key", "an Amazon Bedrock API key", "ABSK", "[A-Za-z0-9+/]{100,270}={0,2}", "{b132}"),
  token("aws-marketplace-key", "an Amazon marketplace key", "amzn.mws.", "[0-9a-f]{8}-[0-9a-f-]{27}", "{uuid}"),
  token("gcp-api-key", "a Google API key", "AIza", "[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])", "{u35}"),
  token("gcp-oauth-secret", "a Google OAuth client secret", "GOCSPX-", "[A-Za-z0-9_-]{28}", "{u28}"),
  token("gcp-access-token", "a Google OAuth access token", "ya29.", "[A-Za-z0-9_-]{20,1024}", "{u130}"),
  token("gcp-refresh-token", "a Google OAuth refresh token", "1//0", "[A-Za-z0-9_-]{40,255}", "{u60}", { entropyMin: 4 }),
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
    expression: "sig=([A-Za-z0-9/+]{43}=|[A-Za-z0-9%]{43,90}%3[Dd])",
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
  token("azure-devops-token", "an Azure DevOps personal access token", "AZDO", "[A-Za-z0-9]{40,100}", "{a76}", { left: "any" }),
  marked("azure-search-key", "a key of Azure AI Search", 42, "AzSe", "[A-D][A-Za-z0-9]{5}", "A{a5}"),
  marked("azure-functions-key", "a key of Azure Functions", 44, "AzFu", "[A-Za-z0-9_-]{5}[AQgw]==", "{a5}A=="),
  marked("azure-registry-key", "a key of an Azure container registry", 42, "+ACR", "[A-D][A-Za-z0-9+/]{5}", "A{a5}"),
  marked("azure-cosmos-key", "a key of Azure Cosmos DB", 76, "ACDb", "[A-Za-z0-9+/]{5}[AQgw]==", "{a5}A=="),
  marked("azure-account-key", "a key of an Azure storage account", 76, "+ASt", "[A-Za-z0-9+/]{5}[AQgw]==", "{a5}A=="),
  marked("azure-iot-key", "a key of an Azure IoT hub", 33, "AIoT", "[A-P][A-Za-z0-9+/]{5}=", "A{a5}="),
  tokens("alibaba-access-key", "an Alibaba Cloud access key id", ["LTAI"], "[A-Za-z0-9]{12,24}(?![A-Za-z0-9])", ["LTAI{a20}"], {
    entropyMin: 3,
  }),
  token("tencent-secret-id", "a Tencent Cloud secret id", "AKID", "[A-Za-z0-9]{32}(?![A-Za-z0-9])", "{a32}", { entropyMin: 3.5 }),
  tokens("digitalocean-token", "a DigitalOcean token", ["dop_v1_", "doo_v1_", "dor_v1_"], "[0-9a-f]{64}", ["dop_v1_{h64}", "doo_v1_{h64}"]),
  tokens("heroku-api-key", "a Heroku API key", ["HRKU-"], "[A-Za-z0-9_-]{36,80}", ["HRKU-{uuid}", "HRKU-AA{u58}"]),
  tokens("netlify-token", "a Netlify access token", ["nfp_", "nfo_", "nfc_"], "[A-Za-z0-9]{36,60}", ["nfp_{a36}"]),
  tokens(
    "vercel-token",
    "a Vercel token",
    ["vcp_", "vci_", "vca_", "vcr_", "vck_", "vercel_blob_rw_"],
    "[A-Za-z0-9_]{24,80}",
    ["vcp_{a56}"],
    {
      left: "token",
      entropyMin: 3.5,
    },
  ),
  token("cloudflare-origin-key", "a Cloudflare origin CA key", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}", "{h24}-{h146}"),
  tokens("fly-token", "a Fly.io access token", ["fm1r_", "fm1a_", "fm2_"], "[A-Za-z0-9+/]{60,700}={0,3}", ["fm2_{b200}", "fm1r_{b100}"]),
  token("fly-deploy-token", "a Fly.io deploy token", "fo1_", "[A-Za-z0-9_-]{43}", "{u43}"),
  token("render-key", "a Render API key", "rnd_", "[A-Za-z0-9]{28,40}", "{a32}", { entropyMin: 3.5 }),
  tokens("yandex-cloud-key", "a Yandex Cloud key", ["AQVN", "YCAJ", "YCN", "YCM"], "[A-Za-z0-9_-]{21,40}(?![A-Za-z0-9_-])", ["AQVN{u36}"], {
    left: "token",
    entropyMin: 4,
    kind: "probable",
  }),
  token("scaleway-access-key", "a Scaleway access key", "SCW", "[A-Z0-9]{17}(?![A-Za-z0-9])", "{U17}", {
    entropyMin: 3.2,
    kind: "probable",
  }),
  token("terraform-cloud-token", "a Terraform Cloud token", "atlasv1.", "[A-Za-z0-9_=-]{60,70}", "{a67}", { left: "any" }),
  token("aiven-password", "an Aiven service password", "AVNS_", "[A-Za-z0-9_-]{19}", "{a19}"),
  token("scalingo-token", "a Scalingo token", "tk-us-", "[A-Za-z0-9_-]{48}", "{a48}"),
  token("prefect-key", "a Prefect key", "pnu_", "[A-Za-z0-9]{36}", "{a36}"),
  token("databricks-token", "a Databricks access token", "dapi", "[0-9a-f]{32}(?:-\\d)?(?![A-Za-z0-9])", "{h32}"),
  tokens("databricks-secret", "a Databricks OAuth secret", ["dose", "dsapi"], "[0-9a-f]{32}(?![A-Za-z0-9])", ["dose{h32}"]),
  tokens("pulumi-token", "a Pulumi access token", ["pul-"], "[0-9a-f]{40}", ["pul-{h40}"]),
  token("yandex-iam-token", "a Yandex Cloud IAM token", "t1.", "[A-Z0-9a-z_-]{10,400}={0,2}\\.[A-Za-z0-9_-]{86}={0,2}", "{u60}.{u86}", {
    left: "token",
  }),
];
