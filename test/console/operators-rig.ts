// Prepares objects for the operators' screens: an application, a parked operation, unexpected funds, a statement
// difference. Writes to the database what only time would bring.
import pg from "pg";
import { newId } from "#platform/values/id.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { stackSecrets } from "../../deploy/local/state/secrets.ts";
import { processorApi } from "../chaos/money-rig.ts";
import { apiClient, merchantApi } from "../harness/api.ts";
import { payInFrame } from "../harness/pay.ts";

/** Ids of the prepared objects. */
export interface OperatorObjects {
  readonly application: string;
  readonly payment: string;
  readonly session: string;
  readonly operation: string;
  readonly refund: string;
  readonly suspense: string;
  /** An item without an amount. */
  readonly emptySuspense: string;
  readonly account: string;
}

/** A script that changes the title if a page runs it. */
export const hostile = `<img src=x onerror="document.title='owned'">`;

export async function prepareObjects(running: RunningStack, stateDir: string): Promise<OperatorObjects> {
  const { stack } = running;
  const shop = merchantApi(stack.gateway, stack.api_key);
  const connectors = (await shop.get("/v1/merchants/me/connectors")).expect(200);
  const [account, external] = [connectors.text("data.0.id"), connectors.text("data.0.external_account_id")];
  const made = (
    await shop.post("/v1/checkout-sessions", { amount: 2_000, currency: "EUR", customer_email: "ada@example.com" })
  ).expect(201);
  await payInFrame(made.text("render.frame_url"));
  const confirm = `/v1/checkout/${made.text("id")}/confirm?secret=${made.text("session_secret")}`;
  const payment = (await shop.post(confirm)).expect(200).text("payment_id");
  const { simulatorSecretKey } = await stackSecrets(stateDir);
  const processor = processorApi(running, simulatorSecretKey, external);
  for (const target of ["api.refunds.create", "api.refunds.get"])
    await processor.put("/test/faults", { target, kind: "error_before" });
  const refund = (await shop.post(`/v1/payments/${payment}/refunds`, { amount: 400 })).expect(201).text("id");
  const [operation] = await runSql(
    stack.database,
    "payments",
    "update operations set state = 'parked', last_error = $2 where reference = $1 and state = 'started' returning id",
    [refund, hostile],
  );
  await processor.delete("/test/faults");
  const [suspense, emptySuspense] = [newId("suspense"), newId("suspense")];
  for (const [id, kind, ref, amount] of [
    [suspense, "second_charge", "pi_twice", 700],
    [emptySuspense, "other_amount", "pi_other", 0],
  ] as const) {
    await runSql(
      stack.database,
      "payments",
      `insert into suspense (id, kind, payment_id, merchant_id, environment, connector, connector_account_id, connector_ref, currency, amount)
       select $1, $3, id, merchant_id, environment, connector, connector_account_id, $4, currency, $5 from payments where id = $2`,
      [id, payment, kind, ref, amount],
    );
  }
  await runSql(
    stack.database,
    "payments",
    "insert into statement_differences (connector_account_id, object, ref, kind, theirs) values ($1, 'payment', 'pi_far', 'unknown_to_us', $2)",
    [account, hostile],
  );
  return {
    application: await submitApplication(stack.gateway),
    payment,
    session: made.text("id"),
    operation: String(operation?.id),
    refund,
    suspense,
    emptySuspense,
    account,
  };
}

/** Submits an application. */
export async function submitApplication(gateway: string, name = "Lemon Books"): Promise<string> {
  const fields = {
    applicant_email: "ann@lemon.example",
    legal_name: "Lemon Books GmbH",
    trading_name: name,
    country_code: "DE",
    currency_code: "EUR",
  };
  const anybody = apiClient(gateway);
  const draft = (await anybody.post("/v1/onboarding/applications", fields)).expect(201);
  const id = draft.text("id");
  (await anybody.post(`/v1/onboarding/applications/${id}/submit`)).expect(200);
  return id;
}

/** Runs SQL as the owner of a service's database. */
export async function runSql(
  database: string,
  service: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const url = new URL(database);
  url.pathname += `_${service}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
