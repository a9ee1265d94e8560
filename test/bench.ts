// `npm run bench -- <name>`: what things cost, as ratios to a limit of the same run (docs/performance.md).
import { chooseCommand } from "../deploy/local/choose-command.ts";

await chooseCommand(
  "bench",
  {
    flows: {
      about: "sessions, payments and refunds per second, relative to bare SQL and bare HTTP (the default)",
      scripts: ["test/bench/main-flows.ts"],
    },
    capacity: {
      about: "what a whole order costs, and what 10, 100 and 1,000 a second need",
      scripts: ["test/bench/capacity.ts"],
    },
    balance: { about: "a merchant's balance over ten million movements", scripts: ["test/bench/balance.ts"] },
    archive: {
      about: "months of ten million payments that leave the database and come back",
      scripts: ["test/bench/archive.ts"],
    },
    webhooks: { about: "deliveries per second, relative to a bare sender", scripts: ["test/bench/webhook.ts"] },
  },
  ["flows"],
);
