// The Stripe connector against the fake of its API: the contract of every connector.
import { connectorContract } from "./contract.ts";
import { startStripeRig } from "./stripe-rig.ts";

connectorContract("stripe", () => startStripeRig());
