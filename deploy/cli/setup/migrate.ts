// `tollbooth migrate`: databases, event streams and consumers of this release.
import { durableConsumers } from "../../../services/services.ts";
import { type Commands, UsageError } from "../command.ts";
import { migrateAll } from "./migrate-all.ts";

const consumers = Object.values(durableConsumers).map(({ source, name }) => `${source}/${name}`);

export const migrate: Commands = {
  "": {
    about:
      "brings the four databases, the event streams and their consumers to this release (CHECKOUT_DATABASE_URL and the others, NATS_URL); safe to repeat, and any number of times at once",
    isAlone: true,
    options: {
      "remake-consumer": {
        value: "stream/name",
        about: `makes a consumer of a stream anew, which is offered all that the stream has: ${consumers.join(", ")}`,
        multiple: true,
      },
    },
    run: async (_peers, input) => {
      const remake = input.list("remake-consumer");
      const unknown = remake.find((each) => !consumers.includes(each));
      if (unknown !== undefined) throw new UsageError(`--remake-consumer is one of ${consumers.join(", ")}`);
      const lines = await migrateAll(process.env, remake);
      return { rows: lines.map((done) => ({ done })), text: lines.join("\n") };
    },
  },
};
