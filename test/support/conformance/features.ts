/** The resources, prompts and completions that the official conformance suite asks for. */
import type { JsonObject } from "../../../src/base/json.ts";
import { isJsonObject } from "../../../src/base/json.ts";
import type { McpFeatures } from "../../../src/transports/mcp/protocol/features.ts";
import { PIXEL } from "./tools.ts";

const RESOURCES: Readonly<Record<string, JsonObject>> = {
  "test://static-text": { mimeType: "text/plain", text: "This is the content of the static text resource." },
  "test://static-binary": { mimeType: "image/png", blob: PIXEL },
  "test://watched-resource": { mimeType: "text/plain", text: "Watched." },
};

const said = (text: string) => ({ role: "user", content: { type: "text", text } });

const PROMPTS: Readonly<Record<string, (args: Readonly<Record<string, string>>, responses: unknown) => JsonObject>> = {
  test_simple_prompt: () => ({ messages: [said("This is a simple prompt for testing.")] }),
  test_prompt_with_arguments: ({ arg1, arg2 }) => ({
    messages: [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  }),
  test_prompt_with_embedded_resource: ({ resourceUri = "" }) => ({
    messages: [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
        },
      },
      said("Please process the embedded resource above."),
    ],
  }),
  test_prompt_with_image: () => ({
    messages: [
      { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
      said("Please analyze the image above."),
    ],
  }),
  test_input_required_result_prompt: (_, responses) =>
    isJsonObject(responses) && isJsonObject(responses["user_context"])
      ? { messages: [said("With context.")] }
      : {
          resultType: "input_required",
          inputRequests: {
            user_context: {
              method: "elicitation/create",
              params: {
                mode: "form",
                message: "What context should the prompt use?",
                requestedSchema: {
                  type: "object",
                  properties: { context: { type: "string" } },
                  required: ["context"],
                },
              },
            },
          },
        },
};

const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ["arg1", "arg2"],
  test_prompt_with_embedded_resource: ["resourceUri"],
};

/** What the suite's server offers beside tools. */
export const conformanceFeatures: McpFeatures = {
  logs: true,
  complete: async ({ value }) => ["paris", "park", "party"].filter((word) => word.startsWith(value)),
  resources: {
    subscribe: true,
    list: async () =>
      Object.entries(RESOURCES).map(([uri, { mimeType }]) => ({
        uri,
        name: uri,
        description: uri,
        mimeType: mimeType ?? "",
      })),
    templates: async () => [
      { uriTemplate: "test://template/{id}/data", name: "template", mimeType: "application/json" },
    ],
    async read(uri) {
      const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
      if (id !== undefined)
        return [{ uri, mimeType: "application/json", text: JSON.stringify({ id, templateTest: true }) }];
      const known = RESOURCES[uri];
      return known && [{ uri, ...known }];
    },
  },
  prompts: {
    list: async () =>
      Object.keys(PROMPTS).map((name) => ({
        name,
        description: name,
        arguments: (ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, required: true })),
      })),
    get: async (name, args, { responses }) => PROMPTS[name]?.(args, responses),
  },
};
