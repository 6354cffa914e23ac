/** Every rule for formats that the redactor knows, by class, from the specific to the general. */
import type { Rule } from "../kinds/rule.ts";
import { APPLICATION_RULES } from "./applications.ts";
import { CLOUD_RULES } from "./cloud.ts";
import { CODE_HOST_RULES } from "./code-hosts.ts";
import { COMMAND_RULES } from "./commands.ts";
import { DATABASE_RULES } from "./databases.ts";
import { IDENTITY_RULES } from "./identity.ts";
import { KEY_MATERIAL_RULES } from "./key-material.ts";
import { MESSAGING_RULES } from "./messaging.ts";
import { MODEL_RULES } from "./models.ts";
import { OBSERVABILITY_RULES } from "./observability.ts";
import { PACKAGE_RULES } from "./packages.ts";
import { PAYMENT_RULES } from "./payments.ts";
import { PLATFORM_RULES } from "./platforms.ts";
import { SERVICE_RULES } from "./services.ts";
import { WEB_RULES } from "./web.ts";

/** Rules by format; those of keys in blocks and of named values are elsewhere, because they are no expressions. */
export const FORMAT_CLASSES: Readonly<Record<string, readonly Rule[]>> = {
  "Clouds and hosting": CLOUD_RULES,
  "Code hosts and continuous integration": CODE_HOST_RULES,
  "Package registries": PACKAGE_RULES,
  "Chat, mail and telephony": MESSAGING_RULES,
  "Payment and trade": PAYMENT_RULES,
  "Monitoring and analysis": OBSERVABILITY_RULES,
  "Secret stores, identity and private networks": IDENTITY_RULES,
  "Model providers": MODEL_RULES,
  "Other services": SERVICE_RULES,
  Platforms: PLATFORM_RULES,
  Applications: APPLICATION_RULES,
  "Keys and hashes": KEY_MATERIAL_RULES,
  "Databases and queues": DATABASE_RULES,
  "Commands and statements": COMMAND_RULES,
  "Addresses, headers and files of programs": WEB_RULES,
};

/** All of them. */
export const FORMAT_RULES: readonly Rule[] = Object.values(FORMAT_CLASSES).flat();
