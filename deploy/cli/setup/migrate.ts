// `tollbooth migrate`: databases, event streams and consumers of this release.
import { durableConsumers, sources } from "../../../services/services.ts";
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
        about: `deletes a consumer and creates it if it belongs to this release, which then receives the whole stream again: ${consumers.join(", ")}`,
        multiple: true,
      },
    },
    run: async (_peers, input) => {
      const remake = input.list("remake-consumer");
      // Another name is of an earlier release.
      const isConsumer = (name: string) =>
        sources.some((source) => name.startsWith(`${source}/`)) && /^\w+\/[\w-]+$/.test(name);
      if (!remake.every(isConsumer))
        throw new UsageError(`--remake-consumer must be <stream>/<consumer>, such as ${consumers[0]}`);
      const lines = await migrateAll(process.env, remake);
      return { rows: lines.map((done) => ({ done })), text: lines.join("\n") };
    },
  },
};
