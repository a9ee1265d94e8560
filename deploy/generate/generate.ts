// `npm run generate`: everything that is written from something else; `-- <name>` for one of them. `web`, `clients` and
// `docs` are not in git: npm start, npm test and npm run pack build what they need of them (output.ts).
import { chooseCommand } from "../local/choose-command.ts";
import { outputs } from "./output.ts";

const usage =
  "npm run generate -- [proto|web|clients|broker-rights|tables|docs]\n\nTakes no options; without a name everything is written.";

await chooseCommand(
  "generate",
  {
    proto: { about: "proto/gen, the code of the internal API", scripts: ["deploy/generate/proto.ts"], usage },
    web: { about: "what browsers load, from gateway/web", scripts: [outputs.web.script], usage },
    clients: {
      about: "the server libraries in gateway/clients, from the OpenAPI document",
      scripts: [outputs.clients.script],
      usage,
    },
    "broker-rights": {
      about: "who may do what at the broker, for the manifests",
      scripts: ["deploy/generate/broker-rights.ts"],
      usage,
    },
    tables: {
      about: "docs/states.md with its pictures, the table of docs/faults.md, tables and samples in the guides",
      scripts: ["test/states/states.test.ts", "test/chaos/fault-table.test.ts", "deploy/generate/guide-blocks.ts"],
      env: { UPDATE: "1" },
      usage,
    },
    docs: {
      about: "what /docs serves, from the guides, the OpenAPI document and gateway/site",
      scripts: [outputs.docs.script],
      usage,
    },
  },
  // Written sources first: what is not in git is built of them.
  ["proto", "broker-rights", "tables", "web", "clients", "docs"],
);
