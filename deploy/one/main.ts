// One process for a small installation: the parts in PARTS, by default the gateway and the four services.
import { ConfigError, readConfig, type Setting, withDefault } from "#platform/process/config.ts";
import { sources } from "../../services/services.ts";
import { type ComponentName, componentNames, environmentIn, loadParts } from "./parts.ts";
import { runTogether } from "./together.ts";

const parts: Setting<readonly ComponentName[]> = {
  parse: (raw) =>
    raw.split(",").map((item) => {
      const name = componentNames.find((each) => each === item.trim());
      if (name === undefined) throw new Error(`must be some of ${componentNames.join(", ")}, comma-separated`);
      return name;
    }),
};

const wanted = readParts();
await runTogether("one", await loadParts(wanted), environmentIn(wanted, process.env));

function readParts(): readonly ComponentName[] {
  try {
    return readConfig({ PARTS: withDefault(parts, ["gateway", ...sources]) }).PARTS;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`one: ${error.message}\n`);
    process.exit(1);
  }
}
