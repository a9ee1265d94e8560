// Every screen of the operators' console, in the order of its navigation.
import type { ConsoleContext } from "../session/visit.ts";
import { merchantsRoutes } from "./operators/merchants.ts";

export function operatorScreens(context: ConsoleContext): void {
  merchantsRoutes(context);
}
