// Starts a console: server-rendered pages on their own origin. It keeps no state; sessions and data live in the
// services.
import cookie from "@fastify/cookie";
import formbody from "@fastify/formbody";
import multipart from "@fastify/multipart";
import { ownHost } from "#platform/process/host.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { guardBodies } from "../http/body/body-guard.ts";
import { createServer, type RunningServer } from "../http/server.ts";
import { limitBodyTime } from "./http/body-time.ts";
import { parseFields } from "./http/form.ts";
import { limitStrangers, TooManyTries } from "./http/stranger-limits.ts";
import { fieldsMaxBytes, uploadLimits } from "./http/upload.ts";
import { fileRoutes } from "./layout/files.ts";
import { connectConsolePeers } from "./peers.ts";
import { accountRoutes, signInMethodRoutes } from "./screens/entry/account.ts";
import { errorRoutes } from "./screens/entry/errors.ts";
import { invitationRoutes } from "./screens/entry/invitation.ts";
import { providerRoutes } from "./screens/entry/provider.ts";
import { signInLinkRoutes, signInRoutes } from "./screens/entry/sign-in.ts";
import { startRoutes } from "./screens/entry/start.ts";
import { unsubscribeRoutes } from "./screens/entry/unsubscribe.ts";
import { merchantScreens } from "./screens/merchant-screens.ts";
import { operatorScreens } from "./screens/operator-screens.ts";
import { SecretCookies } from "./session/cookie.ts";
import { companyProvider } from "./session/provider.ts";
import type { ConsoleContext } from "./session/visit.ts";
import type { ConsoleConfig } from "./settings.ts";

// Enough for a 5 MB file from a phone; forms have less (http/body-time.ts).
const requestMs = 60_000;
const headersMs = 10_000;

export async function startConsole(name: string, config: ConsoleConfig, hostProcess = ownHost): Promise<RunningServer> {
  const log = createLog(name, config.LOG_LEVEL);
  const peers = connectConsolePeers(config, hostProcess);
  const server = createServer(config, log, hostProcess, {
    bodyLimit: fieldsMaxBytes,
    requestTimeout: requestMs,
    http: { headersTimeout: headersMs },
    // An invitation's token exceeds the router's default.
    routerOptions: { maxParamLength: 300 },
  });
  const { app } = server;
  const door = config.CONSOLE_DOOR === "operators" ? Door.OPERATORS : Door.MERCHANTS;
  const cookies = new SecretCookies(config);
  limitBodyTime(app);
  const countTry = await limitStrangers(app, config);
  guardBodies(app, () => new TooManyTries("too many bodies in flight"));
  const provider = companyProvider(config);
  const context: ConsoleContext = { app, peers, config, door, cookies, provider, countTry, log };
  errorRoutes(context);
  await app.register(cookie);
  // Rejects JSON bodies, which no form sends.
  app.removeAllContentTypeParsers();
  await app.register(formbody, { bodyLimit: fieldsMaxBytes, parser: parseFields });
  await app.register(multipart, { limits: uploadLimits, throwFileSizeLimit: false });
  fileRoutes(app);
  startRoutes(context);
  signInRoutes(context);
  signInLinkRoutes(context);
  providerRoutes(context);
  invitationRoutes(context);
  if (config.CONSOLE_DOOR === "merchants") unsubscribeRoutes(context);
  signInMethodRoutes(context);
  accountRoutes(context);
  if (config.CONSOLE_DOOR === "operators") operatorScreens(context);
  else merchantScreens(context);
  return await server.listen(config, async () => peers.close());
}
