// Entry of the classic script: defines `Tollbooth` once per page.
import { checkoutJs } from "./checkout.ts";
import { membersOf } from "./members.ts";

const { src = location.href } = membersOf(document.currentScript);
if (!Reflect.has(globalThis, "Tollbooth")) Object.assign(globalThis, { Tollbooth: checkoutJs(String(src)) });
