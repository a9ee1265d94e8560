// The served script as a classic one: defines `Tollbooth`, once; a second tag finds the first.
import { checkoutJs } from "./checkout.ts";

const { currentScript } = document;
const src = currentScript instanceof HTMLScriptElement ? currentScript.src : location.href;
if (!Reflect.has(globalThis, "Tollbooth")) Object.assign(globalThis, { Tollbooth: checkoutJs(src) });
