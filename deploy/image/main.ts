// The container image's entry: the first argument names the process or the command. `warm` loads all of them, at the build, so
// that the compile cache has them.
const programs: Readonly<Record<string, string>> = {
  gateway: "../../gateway/main.ts",
  checkout: "../../services/checkout/main.ts",
  payments: "../../services/payments/main.ts",
  merchant: "../../services/merchant/main.ts",
  webhook: "../../services/webhook/main.ts",
  simulator: "../../services/simulator/main.ts",
  migrate: "../migrate.ts",
  "journal-check": "../journal-check.ts",
  connector: "../connector.ts",
  operator: "../operator.ts",
  reencrypt: "../reencrypt.ts",
  "key-use": "../key-use.ts",
  "wrap-keys": "../wrap-keys.ts",
  secrets: "../secrets.ts",
};
/** What the processes are made of; loading it starts nothing. */
const parts = ["gateway/server", "services/checkout/service", "services/payments/service", "services/merchant/service"];
const moreParts = ["services/webhook/service", "services/simulator/service"];

const [name = "help", ...rest] = process.argv.slice(2);
const program = programs[name];
if (program !== undefined) {
  // Commands read their own arguments where they stand when run by themselves.
  process.argv.splice(2, process.argv.length, ...rest);
  await import(program);
} else if (name === "warm") {
  for (const part of [...parts, ...moreParts]) await import(`../../${part}.ts`);
} else {
  console.error(`usage: tollbooth <${Object.keys(programs).join("|")}>`);
  process.exit(name === "help" ? 0 : 2);
}
