// Drills of what buyers and merchants' backends see.
import { type Drill, keepDoing } from "./drill.ts";
import { order } from "./rig.ts";

const create = "/v1/checkout-sessions";

export const publicDrills: readonly Drill[] = [
  {
    alerts: ["TollboothPublicErrors", "TollboothPublicErrorsSlowly"],
    about: "checkout is away while merchants make sessions",
    begin: async ({ running, shop }) => {
      await running.halt("checkout");
      const end = keepDoing(() => shop.post(create, order));
      return async () => {
        await end();
        await running.resume("checkout");
        // The alert is about the share of errors, which needs other responses.
        await shop.get("/v1/merchants/me");
      };
    },
  },
  {
    alerts: ["TollboothCheckoutSlow", "TollboothCheckoutSlowly"],
    about: "the processor takes six seconds to make an intent",
    begin: async ({ processor, shop }) => {
      const fault = { target: "api.intents.create", kind: "delay", ms: 6_000 };
      (await processor.put("/test/faults", fault)).expect(201);
      const end = keepDoing(() => shop.post(create, order), 4);
      return async () => {
        (await processor.delete("/test/faults")).expect(204);
        await end();
      };
    },
  },
];
