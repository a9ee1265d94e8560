// /test/faults: the fault switches. Absent if test controls are off.
import type { FastifyInstance } from "fastify";
import { badField } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type FaultKind, type FaultSwitch, faultTargets, kindsOf } from "../rules/fault.ts";
import { releaseEvents } from "../store/events.ts";
import { Fields } from "./fields.ts";
import { referenceMax } from "./intents.ts";

const msMax = 60_000; // longer than any test waits
const staleMsMax = 86_400_000; // a list may lag for a day
const msDefault = 1_000;
const msDefaults: { readonly [K in FaultKind]?: number } = {
  reorder: 500,
  answer_early: 4_000, // longer than a caller's retry pause
  stale_list: 4_000,
};
const countMax = 1_000_000;
const seedMax = 2 ** 31 - 1;

export function testFaultRoutes(app: FastifyInstance, processor: Processor): void {
  const { faults } = processor;

  app.get("/test/faults", async (_request, reply) => reply.send({ data: faults.list }));

  app.put("/test/faults", async (request, reply) => {
    const settings = readSwitch(new Fields(request.body));
    if (faults.isFull) throw badField("target", "cannot be set: too many switches are on");
    return reply.code(201).send(await faults.add(settings));
  });

  app.delete("/test/faults", async (request, reply) => {
    const keeps = new Fields(request.query).optionalOneOf("keep", ["held"]);
    await faults.clear();
    if (keeps === null) await releaseEvents(processor.db);
    processor.wakeSender();
    return reply.code(204).send();
  });
}

function readSwitch(fields: Fields): FaultSwitch {
  const target = fields.oneOf("target", faultTargets);
  const kind = fields.oneOf("kind", kindsOf(target));
  const count = fields.optionalInteger("count", 1, countMax);
  const probability = fields.optionalFraction("probability");
  const account = fields.optionalText("account", referenceMax);
  const reference = fields.optionalText("reference", referenceMax);
  return {
    target,
    kind,
    ms: fields.optionalInteger("ms", 1, kind === "stale_list" ? staleMsMax : msMax) ?? msDefaults[kind] ?? msDefault,
    seed: fields.optionalInteger("seed", 0, seedMax) ?? 1,
    ...(count !== null && { count }),
    ...(probability !== null && { probability }),
    ...(account !== null && { account }),
    ...(reference !== null && { reference }),
  };
}
