// Operators resolve suspense items and parked operations, several at once by any offered action, while other stories
// continue. Repeated and conflicting actions take effect once.
import { OperatorService, Resolution, type Suspense, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import { eventually } from "../harness/eventually.ts";
import type { WalkFault } from "./fault-table.ts";
import { tryOnce } from "./persistent-client.ts";
import type { Story } from "./story.ts";

/** @returns false: there is nothing in this merchant's list */
type Driver = (story: Story) => Promise<boolean>;

const operator = "walk";
const listMax = 200;
const tabsMax = 4;

export const queueFaults = {
  "items resolved concurrently": async (story) => {
    const { run, shop, random } = story;
    const { items } = await run.rig.operators.payments.client(OperatorService).listSuspense({ limit: listMax });
    const own = items.filter(({ merchantId, actions }) => merchantId === shop.merchantId && actions.length > 0);
    if (own.length === 0) return false;
    const item = random.pick(own.map((one) => [one, 1] as const));
    await Promise.all(Array.from({ length: random.int(1, tabsMax) }, () => resolve(story, item)));
    return true;
  },
  "operation parked": async (story) => {
    const { run, shop, random } = story;
    const [parked] = await run.rig.books.payments.rows<{ id: string; kind: string; reference: string }>(
      `update operations set state = 'parked' where state = 'started' and id = (
         select o.id from operations o join payments p on p.id = o.payment_id
         where p.merchant_id = $1 and o.state = 'started' and o.tries > 0 order by o.id limit 1)
       returning id, kind, reference`,
      [shop.merchantId],
    );
    if (!parked) return false;
    const service = run.rig.operators.payments.client(OperatorService);
    const { id: operationId } = parked;
    const retry = () => tryOnce(() => service.retryOperation({ operationId, operator, note: "asked again" }));
    const connectorRef = await madeThere(story, parked);
    const input = { operationId, operator, resolution: Resolution.HAPPENED, proof: "the processor's dashboard" };
    const resolve = () => tryOnce(() => service.resolveOperation({ ...input, connectorRef: connectorRef ?? "" }));
    const acts = connectorRef === undefined ? [retry, retry] : [resolve, retry, resolve];
    await Promise.all(acts.slice(random.int(0, 1)).map((act) => act()));
    const isParked = "select id from operations where id = $1 and state = 'parked'";
    const goesOn = async () => {
      await retry();
      return (await run.rig.books.payments.rows(isParked, [operationId])).length === 0;
    };
    await eventually("the parked operation to go on", goesOn, { limitMs: 120_000, everyMs: 300 });
    return true;
  },
} satisfies Partial<Record<WalkFault, Driver>>;

async function resolve({ run, random, seen }: Story, { id: suspenseId, actions }: Suspense): Promise<void> {
  seen.count();
  const action = random.pick(actions.map((one) => [one, one === SuspenseAction.CLOSE ? 1 : 3] as const));
  const input = { suspenseId, action, operator, note: "from the list" };
  await tryOnce(() => run.rig.operators.payments.client(OperatorService).resolveSuspense(input));
}

/** The object in the simulator's dashboard with our reference; undefined: none yet. */
async function madeThere({ run }: Story, { kind, reference }: { kind: string; reference: string }) {
  if (kind !== "create_refund") return undefined;
  const [made] = await run.rig.books.simulator.rows<{ id: string }>(
    `select object_id as id from operations where kind = 'refunds.create' and reference = $1 limit 1`,
    [reference],
  );
  return made?.id;
}
