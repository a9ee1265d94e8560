// /livez: the process runs. /readyz: the four services can serve; a processor's outage does not count. /readyz is for
// monitoring only: a balancer that used it would drop all gateways at once. Services are checked once a second at most.
import type { FastifyInstance } from "fastify";
import { HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";
import { ApiError, errorAnswer } from "../failures.ts";
import type { Peers } from "../peers.ts";

const keepMs = 1_000;
// A service that takes longer is not ready.
const checkMaxMs = 2_000;

type State = Readonly<Record<string, boolean>>;

/** `draining` makes the gateway unready before it stops. */
export function healthRoutes(app: FastifyInstance, { health }: Pick<Peers, "health">, draining: () => boolean): void {
  let latest: { at: number; state: Promise<State> } | undefined;
  const states = (): Promise<State> => {
    if (!latest || performance.now() - latest.at > keepMs) latest = { at: performance.now(), state: readState(health) };
    return latest.state;
  };
  app.get("/livez", async () => ({ status: "ok" }));
  app.get("/readyz", async (_request, reply) => {
    const services = await states();
    const ready = !draining() && Object.values(services).every((serves) => serves);
    if (ready) return { status: "ok", services };
    const answer = errorAnswer(new ApiError("service_unavailable"));
    return reply
      .code(answer.status)
      .headers(answer.headers)
      .send({ ...answer.body, services });
  });
}

async function readState(health: Peers["health"]): Promise<State> {
  const states = Object.entries(health).map(async ([name, client]) => {
    const serves = await client.check({}, { timeoutMs: checkMaxMs }).then(
      (answer) => answer.status === Status.SERVING,
      () => false,
    );
    return [name, serves] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}
