// The Adyen connector against the stand-in of its API: the contract of every connector.
import { startAdyenRig } from "./adyen-rig.ts";
import { connectorContract } from "./contract.ts";

connectorContract("adyen", () => startAdyenRig());
