// The bundled programs, by paths from the project's root.

/** Main files of the processes. */
export const processPrograms = {
  gateway: "gateway/main.ts",
  console: "gateway/console/main.ts",
  checkout: "services/checkout/main.ts",
  payments: "services/payments/main.ts",
  merchant: "services/merchant/main.ts",
  webhook: "services/webhook/main.ts",
  simulator: "services/simulator/main.ts",
  one: "deploy/one/main.ts",
} as const;

/** Modules of the processes; loading them starts nothing. */
export const imageParts = [
  "gateway/server.ts",
  "gateway/console/server.ts",
  "services/checkout/service.ts",
  "services/payments/service.ts",
  "services/merchant/service.ts",
  "services/webhook/service.ts",
  "services/simulator/service.ts",
  "deploy/one/parts.ts",
  "deploy/cli/nouns.ts",
];

export const imagePrograms = [...Object.values(processPrograms), "deploy/cli/main.ts", ...imageParts];

/** A program's path in the bundle's folder. */
export function inBundle(program: string): string {
  return program.replace(/\.ts$/, ".mjs");
}
