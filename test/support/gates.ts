/** Modes, skills, specs and tool policies as an operator would write them, parsed for a kernel of a test. */
import { parseMode, parseSkill } from "../../src/config/files/profiles.ts";
import { parseToolPolicy, parseToolSpec, specsById } from "../../src/config/files/tool-rules.ts";
import { compileInputSchema } from "../../src/kernel/index.ts";
import type { OperatorGates } from "../../src/model/people/gates.ts";

/**
 * What is written, by name: modes and skills as the values of their files, specs and the policy without their `schema`.
 */
export interface WrittenGates {
  readonly modes?: Readonly<Record<string, object>>;
  readonly skills?: Readonly<Record<string, object>>;
  readonly specs?: readonly object[];
  readonly policy?: object;
}

/** The gates that are written. */
export async function gatesOf({ modes = {}, skills = {}, specs = [], policy }: WrittenGates): Promise<OperatorGates> {
  const text = (value: object) => JSON.stringify(value);
  const byMode = await Promise.all(
    Object.entries(modes).map(([name, value]) => parseMode({ name: `modes/${name}.yaml`, text: text(value) })),
  );
  const bySkill = await Promise.all(
    Object.entries(skills).map(([name, value]) =>
      parseSkill({ name: `skills/${name}.json`, text: text(value) }, compileInputSchema),
    ),
  );
  const parsed = await Promise.all(
    specs.map((value, index) =>
      parseToolSpec(
        { name: `tools/${index}.json`, text: text({ schema: "serverd.tool_spec.v1", ...value }) },
        compileInputSchema,
      ),
    ),
  );
  return {
    hash: `test ${text({ modes, skills, specs, policy })}`,
    modes: new Map(byMode.map((mode) => [mode.name, mode])),
    skills: new Map(bySkill.map((skill) => [skill.name, skill])),
    rules: {
      ok: true,
      specs: specsById(parsed),
      ...(policy && {
        policy: parseToolPolicy({ name: "policy.json", text: text({ schema: "serverd.tool_policy.v1", ...policy }) }),
      }),
    },
  };
}
