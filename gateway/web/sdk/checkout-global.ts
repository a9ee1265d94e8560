// The served script as a classic one: defines `Tollbooth`, once; a second tag finds the first.
import { checkoutJs } from "./checkout.ts";
import { membersOf } from "./members.ts";

const { src = location.href } = membersOf(document.currentScript);
if (!Reflect.has(globalThis, "Tollbooth")) Object.assign(globalThis, { Tollbooth: checkoutJs(String(src)) });
