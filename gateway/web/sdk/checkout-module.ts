// The served script as a module.
import { checkoutJs } from "./checkout.ts";

const checkout = checkoutJs(import.meta.url);
export const { version, create, consumeReturn } = checkout;
export default checkout;
