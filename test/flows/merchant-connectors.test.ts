// Choosing a merchant's primary connector, against a real PostgreSQL: one at a time, whatever runs at once.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { isDuplicate } from "#platform/database.ts";
import { HashKeys } from "#platform/hash-keys.ts";
import { newId } from "#platform/id.ts";
import { createLog } from "#platform/log.ts";
import { MappedDatabase } from "#platform/mapped-database.ts";
import { Outbox } from "#platform/outbox.ts";
import { Vault } from "#platform/secret.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { createMerchant } from "../../services/merchant/flows/create-merchant.ts";
import { changeConnector } from "../../services/merchant/flows/update-connector.ts";
import { ApplicationEntity } from "../../services/merchant/store/applications.ts";
import { BrandingEntity } from "../../services/merchant/store/brandings.ts";
import { type ConnectorRow, insertConnector, listConnectors } from "../../services/merchant/store/connectors.ts";
import { MerchantEntity } from "../../services/merchant/store/merchants.ts";
import { freshDatabase } from "../harness/database.ts";
import { suite } from "../harness/suite.ts";
import { refused } from "./service-config.ts";

const test = suite("primary connectors");
const environment = Environment.SANDBOX;
const entities = [MerchantEntity, BrandingEntity, ApplicationEntity];
const log = createLog("test", "error");
let db: MappedDatabase;

test.before(async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  db = await MappedDatabase.open({ url, name: "test", log, entities });
});
test.after(() => db.close());

function context() {
  return {
    db,
    outbox: new Outbox({ namespace: "test", source: "merchant" }),
    vault: new Vault(new Map([["k1", randomBytes(32)]])),
    log,
    hashKeys: new HashKeys(new Map([["", randomBytes(32)]])),
    simulator: { secretKey: "sim_sk_test", webhookSecret: "whsec" },
  };
}

async function newMerchant(): Promise<string> {
  const order = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
  return (await createMerchant(context(), order)).id;
}

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
  await insertConnector(db, connector, Buffer.of(0));
  return id;
}

async function primaries(merchantId: string): Promise<string[]> {
  return (await listConnectors(db, merchantId, environment)).filter((c) => c.isPrimary).map((c) => c.id);
}

function makePrimary(merchantId: string, connectorId: string) {
  return changeConnector(context(), {
    merchantId,
    environment,
    connectorId,
    selectedSurface: undefined,
    makePrimary: true,
  });
}

// Proves §4 updateConnector: primary
test("making one connector primary takes it from the other, and both changes are announced", async () => {
  const merchantId = await newMerchant();
  const [former] = await primaries(merchantId);
  const next = await addConnector(merchantId);
  assert.equal((await makePrimary(merchantId, next)).isPrimary, true);
  assert.deepEqual(await primaries(merchantId), [next]);
  const [first] = await listConnectors(db, merchantId, environment);
  assert.equal(first?.id, next);
  const rows = await db.rows<{ body: Buffer }>(
    "select body from outbox where subject like '%connector.updated' order by seq",
  );
  for (const id of [former, next])
    assert(
      rows.some((row) => row.body.includes(id ?? "?")),
      id,
    );
});

test("many wishes at once leave exactly one primary", async () => {
  const merchantId = await newMerchant();
  const ids = [...(await primaries(merchantId)), ...(await Promise.all([1, 2, 3].map(() => addConnector(merchantId))))];
  await Promise.all([...ids, ...ids].map((id) => makePrimary(merchantId, id)));
  assert.equal((await primaries(merchantId)).length, 1);
});

test("an account that is inactive, may not be primary, or does not allow the surface is not eligible", async () => {
  const merchantId = await newMerchant();
  const before = await primaries(merchantId);
  const inactive = await addConnector(merchantId, { isActive: false });
  const secondary = await addConnector(merchantId, { canBePrimary: false });
  for (const id of [inactive, secondary]) {
    await assert.rejects(makePrimary(merchantId, id), refused("CONNECTOR_NOT_ELIGIBLE"));
  }
  const wish = { merchantId, environment, connectorId: secondary, selectedSurface: "hosted", makePrimary: false };
  await assert.rejects(changeConnector(context(), wish), refused("CONNECTOR_NOT_ELIGIBLE"));
  assert.deepEqual(await primaries(merchantId), before);
});

test("the database itself refuses a second primary, a primary that must not be, and an account taken twice", async () => {
  const merchantId = await newMerchant();
  await assert.rejects(addConnector(merchantId, { isPrimary: true }), (error) =>
    isDuplicate(error, "connectors_one_primary"),
  );
  const live = { environment: Environment.LIVE, isPrimary: true, canBePrimary: false };
  await assert.rejects(addConnector(merchantId, live), /check constraint/);
  await addConnector(merchantId, { externalAccountId: "acct_x" });
  await assert.rejects(addConnector(merchantId, { externalAccountId: "acct_x" }), (error) => isDuplicate(error));
});

test.run();
