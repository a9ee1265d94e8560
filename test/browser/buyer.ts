// Actions of a buyer on the hosted page, and reads of its state.
import type { FrameLocator, Locator, Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { type Answer, apiClient } from "../harness/api.ts";
import type { TestMerchant } from "../harness/merchant.ts";

export interface Order {
  readonly id: string;
  readonly secret: string;
  /** The hosted page with the secret in the fragment. */
  readonly link: string;
  readonly answer: Answer;
}

export async function newOrder(merchant: TestMerchant, change: Record<string, unknown> = {}): Promise<Order> {
  const body = { amount: 1050, currency: "EUR", description: "Order 1001", ...change };
  const answer = (await merchant.api.post("/v1/checkout-sessions", body)).expect(201);
  return { id: answer.text("id"), secret: answer.text("session_secret"), link: answer.text("checkout_url"), answer };
}

export function confirmOrder(stack: StackInfo, { id, secret }: Order): Promise<Answer> {
  return apiClient(stack.gateway).post(`/v1/checkout/${id}/confirm?secret=${secret}`);
}

export async function paymentsOf(merchant: TestMerchant): Promise<readonly unknown[]> {
  return (await merchant.api.get("/v1/payments?limit=200")).expect(200).list("data");
}

export function payButton(page: Page): Locator {
  return page.getByRole("button", { name: /^Pay / });
}

export async function seeScreen(page: Page, heading: string | RegExp): Promise<void> {
  await page.getByRole("heading", { name: heading }).waitFor();
}

export async function formReady(page: Page): Promise<void> {
  await page.locator('.pay-view[data-state="ready"]').waitFor();
}

/** Types a card into the processor's frame. */
export async function typeCard(page: Page, number: string): Promise<void> {
  await formReady(page);
  await fillCard(page.frameLocator("iframe"), number);
}

export async function fillCard(form: FrameLocator | Page, number: string): Promise<void> {
  await form.locator("#number").fill(number);
  await form.locator("#expiry").fill("12 / 40");
  await form.locator("#cvc").fill("123");
}

export async function payWith(page: Page, number: string): Promise<void> {
  await typeCard(page, number);
  await payButton(page).click();
}

/** Selects a test card in the page's list and pays. */
export async function payWithTestCard(page: Page, number: string): Promise<void> {
  await formReady(page);
  const row = page.locator(`[data-card="${number}"]`);
  if (!(await row.isVisible())) await page.locator(".test-cards summary").click();
  await row.click();
  await payButton(page).click();
}
