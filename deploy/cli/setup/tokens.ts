// `tollbooth tokens …`: new internal tokens, broker identities and event keys for a rotation. Calls no service.
import { randomBytes } from "node:crypto";
import { randomToken } from "#platform/secrets/vault.ts";
import { sources } from "../../../services/services.ts";
import { type Commands, UsageError } from "../command.ts";
import { eventKeyLine, holderLines, newNkey, tokenHolders } from "./identities.ts";

const tokenBytes = 32;

export const tokens: Commands = {
  new: {
    about: "generates a token for an internal caller, and the lines with which services accept it",
    isAlone: true,
    args: ["caller"],
    run: async (_peers, input) => {
      const caller = input.arg("caller");
      if (!tokenHolders.has(caller))
        throw new UsageError(`the caller must be one of ${[...tokenHolders.keys()].join(", ")}`);
      const token = randomToken(tokenBytes);
      return {
        rows: holderLines(caller, token).map((line) => ({ token, callers_line: line })),
        remark:
          "First add each line to every service's RPC_CALLERS_FILE, then write the token to the caller's RPC_TOKEN_FILE, then remove the old lines.",
      };
    },
  },
  nkey: {
    about: "generates a broker identity: the seed for its process, the public key for the server",
    isAlone: true,
    run: async () => {
      const { seed, publicKey } = newNkey();
      return {
        rows: [{ seed, public_key: publicKey }],
        remark:
          "First move the current public key to <NAME>_NKEY_PREVIOUS and put this one at <NAME>_NKEY in nats-logins, and restart the servers one by one; then write the seed to the process's NATS_NKEY_FILE and restart it; then set <NAME>_NKEY_PREVIOUS to an unused public key.",
      };
    },
  },
  "event-key": {
    about: "generates a key that authenticates a service's events, as a line of EVENT_KEYS_FILE",
    isAlone: true,
    args: ["source"],
    run: async (_peers, input) => {
      const source = sources.find((each) => each === input.arg("source"));
      if (!source) throw new UsageError(`the source must be one of ${sources.join(", ")}`);
      return {
        rows: [{ line: eventKeyLine(source, randomBytes(tokenBytes)) }],
        remark:
          "First append the line to every EVENT_KEYS_FILE that has the source, then move it to the front of the source's own file. Remove the old lines after 8 days: streams keep events for 7.",
      };
    },
  },
};
