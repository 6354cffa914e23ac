/** Formats of chat, mail and telephone services. */
import { entropyOf } from "../kinds/entropy.ts";
import { type Rule, token, tokens } from "../kinds/rule.ts";

/** The first part of a Discord bot token is the base64 of a number: that of its account. */
function isDiscordToken(secret: string): "definite" | undefined {
  const account = Buffer.from(secret.split(".")[0] ?? "", "base64").toString("latin1");
  return /^\d{17,20}$/.test(account) ? "definite" : undefined;
}

/** How base64 of a digit and a digit begins, behind what may stand before a token. */
const DISCORD_BEGINNINGS = ["MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"];
const DISCORD_KEYWORDS = [..." \"'=`\t:>,([|"].flatMap((before) => DISCORD_BEGINNINGS.map((pair) => before + pair));
const account = (digits: string) => Buffer.from(digits).toString("base64").replace(/=+$/, "");

/** Rules for messaging services. */
export const MESSAGING_RULES: readonly Rule[] = [
  tokens("slack-token", "a Slack token", {
    prefixes: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxe.xoxp-", "xoxe.xoxb-"],
    body: "[A-Za-z0-9-]{10,255}",
    samples: ["xoxb-{d12}-{d12}-{a24}", "xoxp-{d12}-{d12}-{d12}-{h32}"],
    entropyMin: 2.8,
  }),
  token("slack-app-token", "a Slack app-level token", {
    prefix: "xapp-",
    body: "\\d{1,2}-[A-Za-z0-9]{4,20}-\\d{4,20}-[A-Za-z0-9]{16,100}",
    sample: "1-{U11}-{d13}-{h64}",
  }),
  tokens("slack-session-token", "a Slack session token", {
    prefixes: ["xoxc-", "xoxd-"],
    body: "[A-Za-z0-9%/+-]{20,300}={0,2}",
    samples: ["xoxc-{d12}-{d12}-{h64}", "xoxd-{a60}"],
    entropyMin: 3,
  }),
  {
    id: "slack-webhook",
    kind: "definite",
    title: "the address of a Slack webhook",
    keywords: ["hooks.slack.com/"],
    expression: "hooks\\.slack\\.com/((?:services|workflows|triggers)/[A-Za-z0-9/_-]{30,100})",
    examples: {
      positive: ["https://hooks.slack.com/services/T{U8}/B{U8}/{a24}"],
      negative: [
        "https://hooks.slack.com/services/",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
      ],
    },
  },
  {
    id: "discord-bot-token",
    kind: "definite",
    title: "a Discord bot token",
    keywords: DISCORD_KEYWORDS,
    expression: "[\\s\"'=`:>,([|]([MNO][A-Za-z0-9]{22,26}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40})",
    left: "any",
    check: isDiscordToken,
    examples: {
      positive: [
        `TOKEN=${account("112233445566778899")}.{u6}.{u38}`,
        `Bot "${account("998877665544332211")}.{u6}.{u27}"`,
      ],
      negative: ["=MTest.value.here", '"MT.b.c"'],
    },
  },
  {
    id: "discord-webhook",
    kind: "definite",
    title: "the address of a Discord webhook",
    keywords: ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
    expression: "discord(?:app)?\\.com/api/webhooks/(\\d{17,20}/[A-Za-z0-9_-]{60,80})",
    left: "any",
    examples: {
      positive: ["https://discord.com/api/webhooks/{d18}/{u68}"],
      negative: ["https://discord.com/api/webhooks/<id>/<token>"],
    },
  },
  {
    id: "telegram-bot-token",
    kind: "definite",
    title: "a Telegram bot token",
    keywords: [":AA"],
    expression: "(?<=(?<![0-9])[0-9]{8,10}):(AA[A-Za-z0-9_-]{33})(?![A-Za-z0-9_-])",
    left: "any",
    check: (secret) => (entropyOf(secret) > 3.5 ? "definite" : undefined),
    examples: {
      positive: ["https://api.telegram.org/bot12{d7}:AA{u33}/getMe", "TOKEN=987{d6}:AA{u33}"],
      negative: ["12:AA", "time 12345678:AAxx"],
    },
  },
  {
    id: "teams-webhook",
    kind: "definite",
    title: "the address of a Microsoft Teams webhook",
    keywords: ["webhook.office.com/webhookb2/", "outlook.office.com/webhook/", "outlook.office365.com/webhook/"],
    expression:
      "(?:webhook\\.office\\.com/webhookb2|outlook\\.office(?:365)?\\.com/webhook)/([0-9a-f-]{36}@[0-9a-f-]{36}/[A-Za-z]{4,24}/[0-9a-f]{32}/[0-9a-f-]{36}(?:/[A-Za-z0-9_-]{8,80})?)",
    examples: {
      positive: ["https://x.webhook.office.com/webhookb2/{uuid}@{uuid}/IncomingWebhook/{h32}/{uuid}"],
      negative: ["https://x.webhook.office.com/webhookb2/"],
    },
  },
  tokens("twilio-key", "a Twilio API key", {
    prefixes: ["SK"],
    body: "[0-9a-fA-F]{32}(?![A-Za-z0-9])",
    samples: ["SK{h32}"],
    left: "token",
    kind: "probable",
  }),
  token("sendgrid-key", "a SendGrid key", {
    prefix: "SG.",
    body: "[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}",
    sample: "{u22}.{u43}",
    entropyMin: 3.5,
  }),
  token("mailgun-key", "a Mailgun key", {
    prefix: "key-",
    body: "[0-9a-f]{32}(?![A-Za-z0-9])",
    sample: "{h32}",
    left: "token",
  }),
  token("mailgun-public-key", "a Mailgun validation key", {
    prefix: "pubkey-",
    body: "[0-9a-f]{32}(?![A-Za-z0-9])",
    sample: "{h32}",
    left: "token",
    kind: "probable",
  }),
  {
    id: "mailchimp-key",
    kind: "definite",
    title: "a Mailchimp key",
    keywords: ["-us1", "-us2", "-us3", "-us4", "-us5", "-us6", "-us7", "-us8", "-us9"],
    offset: 32,
    expression: "[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])",
    examples: { positive: ["key {h32}-us12", 'x="{h32}-us9"'], negative: ["en-us1", "zone-us12"] },
  },
  token("mandrill-key", "a Mandrill key", {
    prefix: "md-",
    body: "[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])",
    sample: "{a22}",
    left: "token",
    entropyMin: 3.8,
    kind: "probable",
  }),
  tokens("brevo-key", "a Brevo key", {
    prefixes: ["xkeysib-", "xsmtpsib-"],
    body: "[0-9a-f]{64}-[A-Za-z0-9]{16}",
    samples: ["xkeysib-{h64}-{a16}"],
  }),
  token("resend-key", "a Resend key", {
    prefix: "re_",
    body: "[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}(?![A-Za-z0-9_])",
    sample: "{a8}_{a24}",
    left: "token",
    entropyMin: 3.5,
  }),
  token("mailersend-token", "a MailerSend token", { prefix: "mlsn.", body: "[0-9a-f]{64}", sample: "{h64}" }),
  token("zapier-webhook", "the address of a Zapier webhook", {
    prefix: "hooks.zapier.com/hooks/catch/",
    body: "\\d{4,12}/[A-Za-z0-9]{5,12}",
    sample: "{d8}/{l7}",
    kind: "probable",
  }),
];
