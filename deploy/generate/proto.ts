// Generates proto/gen with buf and the plugins that package.json pins.
import { execFileSync } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

execFileSync(join(root, "node_modules/.bin/buf"), ["generate", "--template", "proto/buf.gen.yaml"], {
  cwd: root,
  stdio: "inherit",
});
console.log("wrote proto/gen");
