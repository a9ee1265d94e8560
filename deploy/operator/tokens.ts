// `operator tokens …`: what a rotation of internal tokens needs. Calls nobody.

import { callerLine, callerNames } from "#platform/rpc-trust.ts";
import { randomToken } from "#platform/secret.ts";
import { type Commands, UsageError } from "./command.ts";

const tokenBytes = 32;

export const tokens: Commands = {
  new: {
    about: "makes a token for an internal caller, and the line that lets services accept it",
    words: ["caller"],
    run: async (_peers, given) => {
      const caller = callerNames.find((name) => name === given.word("caller"));
      if (!caller) throw new UsageError(`a caller is one of ${callerNames.join(", ")}`);
      const token = randomToken(tokenBytes);
      return {
        rows: [{ token, callers_line: callerLine(caller, token) }],
        remark:
          "First add the line to every service's RPC_CALLERS_FILE, then write the token to the caller's RPC_TOKEN_FILE, then remove the old line.",
      };
    },
  },
};
