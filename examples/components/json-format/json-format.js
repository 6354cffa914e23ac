/** A tool that prints JSON with the indentation of its caller's choice. */
export function name() {
  return "json_format";
}

export function description() {
  return "Prints JSON with two spaces of indentation, or as many as `indent` says.";
}

export function inputSchema() {
  return JSON.stringify({
    type: "object",
    properties: { json: { type: "string" }, indent: { type: "integer", minimum: 0, maximum: 8 } },
    required: ["json"],
    additionalProperties: false,
  });
}

export function execute(args) {
  const { json, indent = 2 } = JSON.parse(args);
  try {
    return JSON.stringify(JSON.parse(json), null, indent);
  } catch (error) {
    // biome-ignore lint/style/useThrowOnlyError: what is thrown is the error of the WIT result
    throw `\`json\` is not JSON: ${error.message}`;
  }
}
