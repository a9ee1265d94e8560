// The NATS client. A change to its successors, @nats-io/transport-node and @nats-io/jetstream, begins here.
export * from "nats";
export { NatsConnectionImpl, setTransportFactory } from "nats/lib/nats-base-client/internal_mod.js";
export { NodeTransport, nodeResolveHost } from "nats/lib/src/node_transport.js";
