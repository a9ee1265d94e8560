// Each payment is announced by the confirm and again by the processor's own webhook (docs/contract.md §9).
import { membersOf } from "#platform/values/unchecked.ts";
import { eventually } from "../eventually.ts";
import type { TestMerchant } from "../merchant.ts";

/** Waits until both announcements of a payment were delivered to the merchant's only endpoint. */
export async function announcedTwice({ api }: TestMerchant, paymentId: string): Promise<void> {
  await eventually("both announcements to be delivered", async () => {
    const deliveries = (await api.get(`/v1/payments/${paymentId}/deliveries`)).expect(200).list("data").map(membersOf);
    const announced = deliveries.filter(({ event_type: type }) => type === "payment.succeeded");
    return announced.length === 2 && announced.every(({ delivered }) => delivered === true);
  });
}
