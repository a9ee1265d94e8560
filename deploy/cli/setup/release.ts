// `tollbooth release verify`: a release folder (`npm run release`) is complete, unchanged and signed by a key. It needs
// no network and no service.
import { existsSync } from "node:fs";
import { readVerifyingKey } from "../../release/signature.ts";
import { releaseProblems } from "../../release/verification.ts";
import { type Commands, UsageError } from "../command.ts";

export const release: Commands = {
  verify: {
    about: "compares every file of a release with SHA256SUMS and the provenance, and the signature with a public key",
    args: ["folder"],
    options: { key: { value: "file", about: "the public key of the signature, in PEM form" } },
    isAlone: true,
    run: async (_peers, input) => {
      const folder = input.arg("folder");
      if (!existsSync(folder)) throw new UsageError(`there is no folder ${folder}`);
      const key = input.text("key") === "" ? undefined : readVerifyingKey(input.text("key"));
      const rows = (await releaseProblems(folder, key)).map((each) => ({ ...each }));
      if (rows.length > 0) return { rows, isBad: true };
      const signed = key ? "signed with this key" : "its signature is not checked without --key <file>";
      return { rows, text: `${folder}: every file is as released; ${signed}` };
    },
  },
};
