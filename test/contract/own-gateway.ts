// A gateway of a test's own in front of the run's services, with other settings: limits, an absent service, a second
// replica.
import { randomBytes } from "node:crypto";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { startGateway } from "../../gateway/server.ts";
import { readGatewayConfig } from "../../gateway/settings.ts";
import { sharedInfra } from "../harness/infra.ts";

export interface OwnGateway {
  readonly gateway: string;
  stop(): Promise<void>;
}

/** @param settings environment variables over those that reach the stack's services */
export async function ownGateway(stack: StackInfo, settings: Record<string, string> = {}): Promise<OwnGateway> {
  const config = readGatewayConfig({
    PORT: "0",
    LOG_LEVEL: "error",
    // Receives no events of the stack, and has its own limits.
    NATS_URL: (await sharedInfra()).natsUrl,
    NATS_NAMESPACE: `test-${randomBytes(6).toString("hex")}`,
    RPC_TOKEN_FILE: stack.rpc_files.tokens.gateway,
    CHECKOUT_URL: stack.rpc.checkout,
    PAYMENTS_URL: stack.rpc.payments,
    MERCHANT_URL: stack.rpc.merchant,
    WEBHOOK_URL: stack.rpc.webhook,
    RATE_LIMIT: "off",
    ...settings,
  });
  const running = await startGateway(config);
  return { gateway: `http://127.0.0.1:${running.port}`, stop: () => running.stop() };
}
