// Entry of the module script.
import { checkoutJs } from "./checkout.ts";

const checkout = checkoutJs(import.meta.url);
export const { version, create, consumeReturn } = checkout;
export default checkout;
