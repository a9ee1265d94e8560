// `npm run generate`: everything that is written from something else and committed; `-- <name>` for one of them.
// test/tidy.test.ts fails on what is not fresh.
import { chooseCommand } from "../local/choose-command.ts";

const usage =
  "npm run generate -- [proto|web|clients|broker-rights|tables|docs]\n\nTakes no options; without a name everything is written.";

await chooseCommand(
  "generate",
  {
    proto: {
      about: "code and pages of the internal API, from the protos",
      scripts: ["deploy/generate/proto.ts", "deploy/generate/rpc-pages.ts"],
      usage,
    },
    web: { about: "what browsers load, from gateway/web", scripts: ["gateway/web/build.ts"], usage },
    clients: {
      about: "the server libraries in gateway/clients, from the OpenAPI document",
      scripts: ["deploy/generate/clients.ts"],
      usage,
    },
    "broker-rights": {
      about: "who may do what at the broker, for the manifests",
      scripts: ["deploy/generate/broker-rights.ts"],
      usage,
    },
    tables: {
      about: "docs/states.md with its pictures, and the table of docs/faults.md",
      scripts: ["test/states/states.test.ts", "test/chaos/fault-table.test.ts"],
      env: { UPDATE: "1" },
      usage,
    },
    docs: {
      about:
        "what /docs serves, from the guides, the OpenAPI document and gateway/site; tables and samples in the guides",
      scripts: ["deploy/generate/docs.ts"],
      usage,
    },
  },
  // The docs come last: they are made of what the others write.
  ["proto", "web", "clients", "broker-rights", "tables", "docs"],
);
