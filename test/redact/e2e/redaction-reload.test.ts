/** A running kernel takes over the operator's own redaction rules, and a rule that cannot be used changes nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createKernel } from "../../../src/server/doors/library.ts";
import { until } from "../../support/command-line.ts";
import { freshPlace } from "../../support/place.ts";

const rule = (expression: string) =>
  `redaction:\n  rules:\n    - id: acme-key\n      kind: definite\n      title: a key of Acme\n      keywords: [acme_]\n      expression: "${expression}"\n      examples:\n        secret: ["acme_0123456789abcdef"]\n        clean: ["see acme docs"]\n`;

test("a rule of the operator hides what it names in the next calls, without a restart", async () => {
  const place = freshPlace();
  place.put("config/handrail.yaml", "{}\n");
  place.put("workspace/a.txt", "acme_0123456789abcdef\n");
  const told: string[] = [];
  await using kernel = await createKernel({
    environment: {},
    stateDirectory: place.state,
    configDirectory: place.config,
    onWarning: (message) => void told.push(message),
  });
  const session = await kernel.openSession({ workspace: place.workspace });
  const read = async () => {
    const { outcome } = (await session.call("read_file", { path: "a.txt" })).response;
    return outcome.kind === "success" ? outcome.data["content"] : JSON.stringify(outcome);
  };
  expect(await read()).toBe("acme_0123456789abcdef\n");
  writeFileSync(join(place.config, "handrail.yaml"), rule("acme_[0-9a-f]{16}"));
  await until(() => told.some((message) => message.includes("redaction changed")));
  expect(await read()).toBe("[REDACTED:acme-key]\n");
  writeFileSync(join(place.config, "handrail.yaml"), rule("acme_.*"));
  await until(() => told.some((message) => message.includes("is refused")));
  expect(await read()).toBe("[REDACTED:acme-key]\n");
});
