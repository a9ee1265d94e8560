// From where somebody signs in, for their own list of sessions.
import type { FastifyRequest } from "fastify";

const agentMax = 300;

export function browserOf(request: FastifyRequest): { address: string; agent: string } {
  const agent = (request.headers["user-agent"] ?? "").replace(/[^\x20-\x7e]/g, "").slice(0, agentMax);
  return { address: request.ip, agent };
}
