// The gateway's process.
import { runProcess } from "#platform/process/process.ts";
import { startGateway } from "./server.ts";
import { readGatewayConfig } from "./settings.ts";

await runProcess("gateway", readGatewayConfig, startGateway);
