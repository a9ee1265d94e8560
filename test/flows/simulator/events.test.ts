// The simulator's event list: the webhooks' contents, lost ones included, in the order of creation.
import * as assert from "uvu/assert";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { cardThatSucceeds, type ReceivedEvent, simulatorCaller, startRig } from "./service.ts";

const test = suite("simulator-events");

const rig = fixture(test, () => startRig());
test.afterEach(() => rig.call("DELETE", "/test/faults"));

type ListedEvent = Pick<ReceivedEvent, "id" | "type" | "account" | "data"> & { readonly created_at: string };
interface Page {
  readonly data: readonly ListedEvent[];
  readonly next: string | null;
}
type Call = ReturnType<typeof simulatorCaller>;

const fault = (members: object) => rig.call("PUT", "/test/faults", members);
const page = async (call: Call, query: string) => (await call<Page>("GET", `/api/events?${query}`)).body;
/** The intent's received events, without the repeats that a late answer causes. */
function arrived(id: string): ReceivedEvent[] {
  const about = rig.receiver.received.filter((event) => event.data.intent.id === id);
  return [...new Map(about.map((event) => [event.id, event])).values()];
}

async function all(call: Call, since: string, limit = 100): Promise<ListedEvent[]> {
  const events: ListedEvent[] = [];
  let after = "";
  for (;;) {
    const { data, next } = await page(call, `since=${since}&limit=${limit}${after}`);
    events.push(...data);
    if (next === null) return events;
    after = `&after=${next}`;
  }
}

/** A paid intent with three refunds: four events. */
async function story(account: string): Promise<{ call: Call; id: string }> {
  const call = simulatorCaller(rig.url, account);
  const { id } = (await call("POST", "/api/intents", { amount: 100, currency: "EUR", reference: `pay_${account}` }))
    .body;
  await call("POST", `/test/intents/${id}/pay`, { card: cardThatSucceeds });
  for (const amount of [1, 2, 3]) await call("POST", `/test/intents/${id}/refunds`, { amount });
  return { call, id };
}

test("the list has every event of the account in order, identical to its webhook", async () => {
  const { call, id } = await story("acct_words");
  await story("acct_others");
  const events = await all(call, "2020-01-01T00:00:00Z", 3);
  const types = events.map(({ type }) => type);
  assert.equal(types, ["intent.succeeded", "refund.created", "refund.created", "refund.created"]);
  assert.equal(
    events.map(({ data }) => data.intent.refunds.length),
    [0, 1, 2, 3],
  );
  await eventually("the webhooks", () => arrived(id).length === 4);
  const sent = new Map(arrived(id).map((event) => [event.id, event.raw]));
  for (const event of events) assert.is(JSON.stringify(event), sent.get(event.id));
});

test("events during paging are on a later page", async () => {
  const { call, id } = await story("acct_growing");
  const first = await page(call, "since=2020-01-01T00:00:00Z&limit=3");
  await call("POST", `/test/intents/${id}/refunds`, { amount: 4 });
  const rest = await page(call, `since=2020-01-01T00:00:00Z&limit=3&after=${first.next}`);
  const amounts = [...first.data, ...rest.data].map(({ data }) => data.intent.refunds.at(-1)?.amount ?? 0);
  assert.equal([amounts, rest.next], [[0, 1, 2, 3, 4], null]);
});

test("a malformed cursor, time or limit is 400", async () => {
  for (const query of ["after=x", "since=yesterday", "limit=0"])
    assert.is((await rig.call("GET", `/api/events?${query}`)).status, 400, query);
});

test("deleting switches with keep=held keeps held events and lets new ones pass", async () => {
  await fault({ target: "webhooks", kind: "hold" });
  const held = await rig.paidIntent();
  const isHeld = async () =>
    (await rig.call<{ data: { is_held: boolean }[] }>("GET", `/test/events?intent=${held.id}`)).body.data[0]?.is_held;
  await eventually("it to be held", isHeld);
  assert.is((await rig.call("DELETE", "/test/faults?keep=held")).status, 204);
  assert.equal((await rig.call<{ data: unknown[] }>("GET", "/test/faults")).body.data, []);
  const other = await rig.paidIntent();
  await eventually("another event", () => arrived(other.id).length === 1);
  assert.equal([arrived(held.id).length, await isHeld()], [0, true]);
  assert.is((await rig.call("DELETE", "/test/faults?keep=everything")).status, 400);
  await rig.call("DELETE", "/test/faults");
  await eventually("the held one", () => arrived(held.id).length === 1);
});

test.run();
