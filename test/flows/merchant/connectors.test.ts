// A merchant's connector accounts on a real PostgreSQL: one is primary, each is stored once with encrypted credentials.
import assert from "node:assert/strict";
import { isDuplicate } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { changeConnector, deactivateAccount, saveAccount } from "../../../services/merchant/flows/manage-connector.ts";
import { unsealCredentials } from "../../../services/merchant/flows/open-account.ts";
import {
  type ConnectorRow,
  findAccountsByExternal,
  insertConnector,
  listConnectors,
} from "../../../services/merchant/store/connectors.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { merchantContext, newMerchant } from "./context.ts";

const test = suite("connector accounts");
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
    paymentMethods: ["card"],
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

const account = (merchantId: string, externalAccountId: string, change: object = {}) => ({
  merchantId,
  environment,
  connector: "stripe",
  externalAccountId,
  credentials: { secret_key: "sk_test_very_secret" },
  surfaces: ["embedded", "redirect"],
  makePrimary: false,
  ...change,
});

test("saving an account many times at once stores it once, with encrypted credentials", async () => {
  const merchantId = await newMerchant(context);
  const saved = await Promise.all(
    Array.from({ length: 8 }, () => saveAccount(context, account(merchantId, "acct_one", { makePrimary: true }))),
  );
  assert.equal(new Set(saved.map(({ id }) => id)).size, 1);
  const listed = await listConnectors(context.db, merchantId, environment);
  assert.deepEqual(
    listed.map((each) => [each.connector, each.isPrimary]),
    [
      ["stripe", true],
      ["simulator", false],
    ],
  );
  const [stored] = await findAccountsByExternal(context.db, "stripe", "acct_one");
  assert.ok(stored && !stored.credentials.includes("very_secret"));
  assert.deepEqual(unsealCredentials(context.vault, stored), { secret_key: "sk_test_very_secret" });
});

test("an account belongs to one merchant, in one or both environments", async () => {
  const [one, two] = [await newMerchant(context), await newMerchant(context)];
  await saveAccount(context, account(one, "acct_shared"));
  await assert.rejects(saveAccount(context, account(two, "acct_shared")), isRefusal("CONNECTOR_NOT_ELIGIBLE"));
  await saveAccount(context, account(one, "acct_shared", { environment: Environment.LIVE }));
  const both = await findAccountsByExternal(context.db, "stripe", "acct_shared");
  assert.deepEqual(
    both.map(({ connector }) => connector.environment),
    [Environment.SANDBOX, Environment.LIVE],
  );
});

test("a reactivated account keeps its id and is no longer primary", async () => {
  const merchantId = await newMerchant(context);
  const { id } = await saveAccount(context, account(merchantId, "acct_back", { makePrimary: true }));
  const named = { merchantId, environment, connectorId: id };
  for (let i = 0; i < 2; i++) {
    const inactive = await deactivateAccount(context, named);
    assert.deepEqual([inactive.isActive, inactive.isPrimary], [false, false]);
  }
  const back = await saveAccount(context, account(merchantId, "acct_back"));
  assert.deepEqual([back.id, back.isActive, back.isPrimary], [id, true, false]);
  await assert.rejects(
    deactivateAccount(context, { ...named, merchantId: await newMerchant(context) }),
    isRefusal("NOT_FOUND"),
  );
});

test.run();
