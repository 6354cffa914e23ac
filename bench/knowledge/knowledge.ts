/** `npm run bench -- knowledge` and `knowledge-quality`: prints what was measured, one line for each figure. */
import { createPlayground } from "../playground.ts";
import { thisMachine } from "../table.ts";
import { measureKnowledgeQuality } from "./quality.ts";
import { measureKnowledgeSpeed } from "./speed.ts";

/** Measures one of both. */
export async function runKnowledge(suite: "knowledge" | "knowledge-quality", isQuick: boolean): Promise<void> {
  using playground = createPlayground();
  const figures =
    suite === "knowledge"
      ? await measureKnowledgeSpeed(playground, isQuick)
      : await measureKnowledgeQuality(playground);
  console.log(JSON.stringify(thisMachine()));
  for (const [name, figure] of Object.entries(figures)) console.log(`${name}: ${JSON.stringify(figure)}`);
}
