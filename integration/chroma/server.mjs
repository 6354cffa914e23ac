/** Runs ChromaDB's own server: `server.mjs DIRECTORY PORT`, on loopback. */
import { createRequire } from "node:module";

const [directory = "", port = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit());
const { cli } = createRequire(import.meta.url)(`chromadb-js-bindings-linux-${process.arch}-gnu`);
cli(["chroma", "run", "--path", directory, "--host", "127.0.0.1", "--port", port]);
