/** Every rule for formats that the redactor knows, from the specific to the general. */
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
export const FORMAT_RULES: readonly Rule[] = [
  ...CLOUD_RULES,
  ...CODE_HOST_RULES,
  ...PACKAGE_RULES,
  ...MESSAGING_RULES,
  ...PAYMENT_RULES,
  ...OBSERVABILITY_RULES,
  ...IDENTITY_RULES,
  ...MODEL_RULES,
  ...SERVICE_RULES,
  ...PLATFORM_RULES,
  ...APPLICATION_RULES,
  ...KEY_MATERIAL_RULES,
  ...DATABASE_RULES,
  ...COMMAND_RULES,
  ...WEB_RULES,
];
