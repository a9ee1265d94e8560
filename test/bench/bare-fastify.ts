// The upper limit of the HTTP edge: a Fastify that parses the body and answers a constant.
import Fastify from "fastify";

const app = Fastify();
app.post("/", () => ({ id: "cs_00000000000000000000000000", status: "open", amount: 1050, currency: "EUR" }));
await app.listen({ port: 0, host: "127.0.0.1" });
const address = app.server.address();
process.send?.(typeof address === "object" ? address?.port : 0);
process.once("disconnect", () => process.exit(0));
