/** Opens the metrics of one kernel, in Prometheus' text format. Loads `prom-client`. */
import { collectDefaultMetrics, Registry } from "prom-client";
import type { OpenKernel } from "../compose.ts";
import { CallMetrics } from "./call-metrics.ts";
import { StateMetrics } from "./state-metrics.ts";

/** Milliseconds for which one reading of the state is shown: whoever asks more often gets the same again. */
const KEPT_MS = 1000;

/** Metrics of one kernel. */
export interface KernelMetrics {
  readonly contentType: string;
  /** All metrics as text. */
  readonly text: () => Promise<string>;
  /** Ends counting. */
  readonly close: () => void;
}

/** Begins to count what happens in `kernel`. */
export function openMetrics(kernel: OpenKernel): KernelMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const end = kernel.observation.observe(new CallMetrics(registry));
  const state = new StateMetrics(registry, kernel);
  const read = async () => {
    await state.refresh();
    return registry.metrics();
  };
  let reading: Promise<string> | undefined;
  const begin = () => {
    const text = read();
    // kept from its end on, so that no two readings run at once
    const forget = () => void setTimeout(() => (reading = undefined), KEPT_MS).unref();
    text.then(forget, forget);
    return text;
  };
  return {
    contentType: registry.contentType,
    text: () => (reading ??= begin()),
    close() {
      end();
      registry.clear();
    },
  };
}
