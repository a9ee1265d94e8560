// Creates payments through the public API and pays them with the simulator's card form.
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import type { TestMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";

export interface Purchase {
  readonly session: string;
  readonly secret: string;
  readonly payment: string;
}

/** @param change overrides of the session's body */
export async function makePurchase(
  stack: StackInfo,
  merchant: Pick<TestMerchant, "api">,
  change: Readonly<Record<string, unknown>> = {},
  card: string = cards.succeeds,
): Promise<Purchase> {
  const body = {
    amount: 4_250,
    currency: "EUR",
    description: "Lemon tree",
    customer_email: "ada@example.com",
    ...change,
  };
  const made = (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
  const [session, secret] = [made.text("id"), made.text("session_secret")];
  await payInFrame(made.text("render.frame_url"), card);
  (await apiClient(stack.gateway).post(`/v1/checkout/${session}/confirm?secret=${secret}`)).expect(200);
  const payment = (await merchant.api.get(`/v1/checkout-sessions/${session}`)).expect(200).text("payment_id");
  return { session, secret, payment };
}

/** A purchase with an open dispute. */
export async function disputedPurchase(
  stack: StackInfo,
  merchant: Pick<TestMerchant, "api">,
  change: Readonly<Record<string, unknown>> = {},
): Promise<Purchase & { readonly dispute: string }> {
  const made = await makePurchase(stack, merchant, change, cards.disputedLater);
  const dispute = await eventually("the dispute is open", async () => {
    const id = (await merchant.api.get(`/v1/payments/${made.payment}`)).expect(200).at("dispute.id");
    return typeof id === "string" ? id : undefined;
  });
  return { ...made, dispute };
}
