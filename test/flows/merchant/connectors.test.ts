// A merchant's primary connector on a real PostgreSQL: always one, also under concurrent changes.
import assert from "node:assert/strict";
import { isDuplicate } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { changeConnector } from "../../../services/merchant/flows/manage-connector.ts";
import { type ConnectorRow, insertConnector, listConnectors } from "../../../services/merchant/store/connectors.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { merchantContext, newMerchant } from "./context.ts";

const test = suite("primary connectors");
const environment = Environment.SANDBOX;

const context = fixture(
  test,
  () => merchantContext(),
  (context) => context.db.close(),
);

async function addConnector(merchantId: string, change: Partial<ConnectorRow> = {}): Promise<string> {
  const id = newId("connector");
  const connector: ConnectorRow = {
    id,
    merchantId,
    environment,
    connector: "stripe",
    isPrimary: false,
    isActive: true,
    canBePrimary: true,
    allowedSurfaces: ["embedded"],
    defaultSurface: "embedded",
    selectedSurface: undefined,
    externalAccountId: `acct_${id}`,
    ...change,
  };
  await insertConnector(context.db, connector, Buffer.of(0));
  return id;
}

async function primaries(merchantId: string): Promise<string[]> {
  return (await listConnectors(context.db, merchantId, environment)).filter((c) => c.isPrimary).map((c) => c.id);
}

function makePrimary(merchantId: string, connectorId: string) {
  return changeConnector(context, {
    merchantId,
    environment,
    connectorId,
    selectedSurface: undefined,
    makePrimary: true,
  });
}

// Proves updateConnector: primary
test("making a connector primary demotes the other, and both changes are announced", async () => {
  const merchantId = await newMerchant(context);
  const [former] = await primaries(merchantId);
  const next = await addConnector(merchantId);
  assert.equal((await makePrimary(merchantId, next)).isPrimary, true);
  assert.deepEqual(await primaries(merchantId), [next]);
  const [first] = await listConnectors(context.db, merchantId, environment);
  assert.equal(first?.id, next);
  const rows = await context.db.rows<{ body: Buffer }>(
    "select body from outbox where subject like '%connector.updated' order by seq",
  );
  for (const id of [former, next])
    assert(
      rows.some((row) => row.body.includes(id ?? "?")),
      id,
    );
});

test("concurrent changes leave exactly one primary", async () => {
  const merchantId = await newMerchant(context);
  const ids = [...(await primaries(merchantId)), ...(await Promise.all([1, 2, 3].map(() => addConnector(merchantId))))];
  await Promise.all([...ids, ...ids].map((id) => makePrimary(merchantId, id)));
  assert.equal((await primaries(merchantId)).length, 1);
});

test("the database refuses a second primary, an ineligible primary, and a duplicate account", async () => {
  const merchantId = await newMerchant(context);
  await assert.rejects(addConnector(merchantId, { isPrimary: true }), (error) =>
    isDuplicate(error, "connectors_one_primary"),
  );
  const live = { environment: Environment.LIVE, isPrimary: true, canBePrimary: false };
  await assert.rejects(addConnector(merchantId, live), /check constraint/);
  await addConnector(merchantId, { externalAccountId: "acct_x" });
  await assert.rejects(addConnector(merchantId, { externalAccountId: "acct_x" }), (error) => isDuplicate(error));
});

test.run();
