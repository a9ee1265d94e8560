// `npm run generate`: all generated files; `-- <name>` for one kind. `web`, `clients` and `docs` are not in git: npm
// start, npm test and npm run pack build what they need (output.ts).
import { chooseCommand } from "../local/choose-command.ts";
import { outputs } from "./output.ts";

const usage =
  "npm run generate -- [proto|web|clients|broker-rights|tables|docs]\n\nTakes no options; without a name all are generated.";

await chooseCommand(
  "generate",
  {
    proto: { about: "proto/gen, the code of the internal API", scripts: ["deploy/generate/proto.ts"], usage },
    web: { about: "files for browsers, from gateway/web", scripts: [outputs.web.script], usage },
    clients: {
      about: "the server libraries in gateway/clients, from the OpenAPI document",
      scripts: [outputs.clients.script],
      usage,
    },
    "broker-rights": {
      about: "the broker permissions of each identity, for the manifests",
      scripts: ["deploy/generate/broker-rights.ts"],
      usage,
    },
    tables: {
      about:
        "docs/states.md with its pictures, docs/internal-api/asyncapi.json, tables and samples in the guides and docs/faults.md",
      scripts: [
        "test/states/states.test.ts",
        "test/chaos/fault-table.test.ts",
        "deploy/generate/guide-blocks.ts",
        "deploy/generate/async-document.ts",
      ],
      env: { UPDATE: "1" },
      usage,
    },
    docs: {
      about: "the pages of /docs, from the guides, the OpenAPI document and gateway/site",
      scripts: [outputs.docs.script],
      usage,
    },
  },
  // Committed files first, since the others are built from them.
  ["proto", "broker-rights", "tables", "web", "clients", "docs"],
);
