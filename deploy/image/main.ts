#!/usr/local/bin/node
// The container image's entry, and `tollbooth` in its PATH: one word that names a process is that process
// (`tollbooth payments`), everything else a command of deploy/cli (`tollbooth payments show pay_…`). `warm` loads all
// of them, at the build, so that the compile cache has them; `idle` keeps a container there for commands
// (components/operator).
const processes: Readonly<Record<string, string>> = {
  gateway: "../../gateway/main.ts",
  console: "../../gateway/console/main.ts",
  checkout: "../../services/checkout/main.ts",
  payments: "../../services/payments/main.ts",
  merchant: "../../services/merchant/main.ts",
  webhook: "../../services/webhook/main.ts",
  simulator: "../../services/simulator/main.ts",
  one: "../one/main.ts",
};
/** What the processes are made of; loading it starts nothing. */
const parts = [
  "gateway/server",
  "gateway/console/server",
  "services/checkout/service",
  "services/payments/service",
  "services/merchant/service",
];
const moreParts = ["deploy/one/parts", "services/webhook/service", "services/simulator/service", "deploy/cli/nouns"];

const dayMs = 86_400_000;

const [name = "", ...rest] = process.argv.slice(2);
const started = rest.length === 0 ? processes[name] : undefined;
if (started !== undefined) {
  await import(started);
} else if (name === "warm") {
  for (const part of [...parts, ...moreParts]) await import(`../../${part}.ts`);
} else if (name === "idle") {
  setInterval(() => {}, dayMs);
  for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => process.exit(0));
  console.log("waiting for commands: kubectl exec deploy/operator -c app -- tollbooth --help");
} else {
  await import("../cli/main.ts");
}
