// The parts of an installation in one process: the gateway, the four services and optionally the consoles, each built
// as in its own process. They call each other in memory through the same clients and listeners.
import type { Environment } from "#platform/process/config.ts";
import { neighbourUrl } from "#platform/process/host.ts";
import { withOpenKeys } from "#platform/secrets/open-keys.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { sources } from "../../services/services.ts";
import { defineProgram, type Program, programEnvironment } from "./together.ts";

export const componentNames = ["gateway", "console", "operators-console", ...sources] as const;
export type ComponentName = (typeof componentNames)[number];

/** Each calls stages before it. Webhook and checkout share a stage: both need payments until they have stopped. */
const stages: readonly (readonly ComponentName[])[] = [
  ["merchant"],
  ["payments"],
  ["checkout", "webhook"],
  ["gateway", "console", "operators-console"],
];

/** Loads the wanted parts, stage by stage. */
export async function loadParts(wanted: readonly ComponentName[]): Promise<readonly (readonly Program[])[]> {
  return await Promise.all(
    stages.map((stage) => Promise.all(stage.filter((name) => wanted.includes(name)).map((name) => loads[name]()))),
  );
}

/** A part's environment, in which the addresses of the other parts point into this process. */
export function environmentIn(wanted: readonly ComponentName[], env: Environment): (component: string) => Environment {
  const peers = sources.filter((name) => wanted.includes(name));
  const addresses = peers.map((name) => [`${name.toUpperCase()}_URL`, neighbourUrl(name)] as const);
  const doors: Environment = { CONSOLE_DOOR: "operators" };
  return (component) => ({
    ...programEnvironment(component, env),
    ...Object.fromEntries(addresses),
    ...(component === "operators-console" && doors),
  });
}

const loads: Readonly<Record<ComponentName, () => Promise<Program>>> = {
  merchant: async () => {
    const [{ startMerchant }, { merchantSettings, peopleSettings }] = await Promise.all([
      import("../../services/merchant/service.ts"),
      import("../../services/merchant/settings.ts"),
    ]);
    const read = (env: Environment) => readProductionConfig({ ...merchantSettings, ...peopleSettings }, env);
    return defineProgram("merchant", read, async (config, host) => startMerchant(await withOpenKeys(config), host));
  },
  payments: async () => {
    const [{ startPayments }, { readPaymentsConfig }] = await Promise.all([
      import("../../services/payments/service.ts"),
      import("../../services/payments/settings.ts"),
    ]);
    return defineProgram("payments", readPaymentsConfig, async (config, host) =>
      startPayments(await withOpenKeys(config), host),
    );
  },
  checkout: async () => {
    const [{ startCheckout }, { checkoutSettings }] = await Promise.all([
      import("../../services/checkout/service.ts"),
      import("../../services/checkout/settings.ts"),
    ]);
    const read = (env: Environment) => readProductionConfig(checkoutSettings, env);
    return defineProgram("checkout", read, async (config, host) => startCheckout(await withOpenKeys(config), host));
  },
  webhook: async () => {
    const [{ startWebhook }, { readWebhookConfig }] = await Promise.all([
      import("../../services/webhook/service.ts"),
      import("../../services/webhook/settings.ts"),
    ]);
    return defineProgram("webhook", readWebhookConfig, async (config, host) =>
      startWebhook(await withOpenKeys(config), host),
    );
  },
  gateway: async () => {
    const [{ startGateway }, { readGatewayConfig }] = await Promise.all([
      import("../../gateway/server.ts"),
      import("../../gateway/settings.ts"),
    ]);
    return defineProgram("gateway", readGatewayConfig, startGateway);
  },
  console: () => consoleProgram("console"),
  "operators-console": () => consoleProgram("operators-console"),
};

async function consoleProgram(name: "console" | "operators-console"): Promise<Program> {
  const [{ startConsole }, { readConsoleConfig }] = await Promise.all([
    import("../../gateway/console/server.ts"),
    import("../../gateway/console/settings.ts"),
  ]);
  return defineProgram(name, readConsoleConfig, (config, host) => startConsole(name, config, host));
}
