/** A kernel that looks after a folder of components, and what its calls come to. */
import { renameSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { ApprovalManager } from "../../src/approval/handler.ts";
import type { JsonObject } from "../../src/base/json.ts";
import { createKernel } from "../../src/server/doors/library.ts";
import { freshPlace, type Place } from "./place.ts";
import { type WatComponent, watComponent } from "./wat-component.ts";

/** What is in force. */
export interface ComponentWish {
  /** By default `open`, which permits every tool and asks nobody. */
  readonly preset?: "dev" | "open";
  readonly settings?: string;
  /** By file names without `.wasm`. */
  readonly components?: Readonly<Record<string, WatComponent | Uint8Array>>;
  /** Further files below the place. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** A component in `place`, put there as a whole, as people do. */
export async function putComponent(place: Place, name: string, component: WatComponent | Uint8Array): Promise<void> {
  const bytes = component instanceof Uint8Array ? component : await watComponent(component);
  const made = place.put(`config/components/${name}.new`, bytes);
  renameSync(made, join(place.config, "components", `${name}.wasm`));
}

/** Opens the kernel with a session. `told` is what the operator is told. */
export async function componentPlace(wish: ComponentWish = {}) {
  const { preset = "open", settings = "", components = {}, files = {} } = wish;
  const place = freshPlace();
  place.put("config/handrail.yaml", `preset: ${preset}\n${settings}`);
  for (const [path, content] of Object.entries(files)) place.put(path, content);
  for (const [name, component] of Object.entries(components)) await putComponent(place, name, component);
  const told: string[] = [];
  const errors: unknown[] = [];
  const approvals = new ApprovalManager();
  const kernel = await createKernel({
    stateDirectory: place.state,
    configDirectory: place.config,
    environment: {},
    approvals,
    onWarning: (message) => void told.push(message),
    onInternalError: (error) => void errors.push(error),
  });
  onTestFinished(() => kernel.close());
  const session = await kernel.openSession({ workspace: place.workspace });
  return {
    place,
    kernel,
    session,
    approvals,
    told,
    errors,
    call: async (tool: string, args: JsonObject = {}) => (await session.call(tool, args)).response.outcome,
    /** Resolves once the operator was told such words `times` times. */
    said: (words: string, times = 1) =>
      vi.waitFor(
        () => {
          const found = told.filter((message) => message.includes(words));
          if (found.length < times) throw new Error(`\`${words}\` was not told; told: ${told.join("\n")}`);
          return found;
        },
        { timeout: 45_000, interval: 20 },
      ),
  };
}
