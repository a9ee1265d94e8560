// `tollbooth migrate`: databases, event streams and consumers of this release.
import { durableConsumers } from "../../../services/services.ts";
import { type Commands, UsageError } from "../command.ts";
import { migrateAll } from "./migrate-all.ts";

const consumers = Object.values(durableConsumers).map(({ source, name }) => `${source}/${name}`);

export const migrate: Commands = {
  "": {
    about:
      "migrates the four databases, the event streams and their consumers to this release (CHECKOUT_DATABASE_URL and the others, NATS_URL); safe to repeat and to run in parallel",
    isAlone: true,
    options: {
      "remake-consumer": {
        value: "stream/name",
        about: `deletes and creates a consumer, which then receives the whole stream again: ${consumers.join(", ")}`,
        multiple: true,
      },
    },
    run: async (_peers, input) => {
      const remake = input.list("remake-consumer");
      const unknown = remake.find((each) => !consumers.includes(each));
      if (unknown !== undefined) throw new UsageError(`--remake-consumer must be one of ${consumers.join(", ")}`);
      const lines = await migrateAll(process.env, remake);
      return { rows: lines.map((done) => ({ done })), text: lines.join("\n") };
    },
  },
};
