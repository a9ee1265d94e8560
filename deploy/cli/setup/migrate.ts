// `tollbooth migrate`: databases, event streams and consumers of this release.
import type { Commands } from "../command.ts";
import { migrateAll } from "./migrate-all.ts";

export const migrate: Commands = {
  "": {
    about:
      "brings the four databases, the event streams and their consumers to this release (CHECKOUT_DATABASE_URL and the others, NATS_URL); safe to repeat, and any number of times at once",
    isAlone: true,
    run: async () => {
      const lines = await migrateAll(process.env);
      return { rows: lines.map((done) => ({ done })), text: lines.join("\n") };
    },
  },
};
