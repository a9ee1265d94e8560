// What is bundled, by paths from the project's root.

/** The processes of an installation, each a program of its own. */
const processes = [
  "gateway/main.ts",
  "gateway/console/main.ts",
  "services/checkout/main.ts",
  "services/payments/main.ts",
  "services/merchant/main.ts",
  "services/webhook/main.ts",
  "services/simulator/main.ts",
  "deploy/one/main.ts",
] as const;

export const localPrograms = [...processes, "deploy/local/mailbox/main.ts"];

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

export const imagePrograms = [...processes, "deploy/cli/main.ts", ...imageParts];
