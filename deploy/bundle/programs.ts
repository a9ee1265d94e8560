// What is bundled of an installation, by paths from the project's root.

/** Its processes, each a program of its own. */
export const processPrograms = [
  "gateway/main.ts",
  "gateway/console/main.ts",
  "services/checkout/main.ts",
  "services/payments/main.ts",
  "services/merchant/main.ts",
  "services/webhook/main.ts",
  "services/simulator/main.ts",
  "deploy/one/main.ts",
] as const;

/** What those are made of; loading it starts nothing. */
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

export const imagePrograms = [...processPrograms, "deploy/cli/main.ts", ...imageParts];
