// First call of an internal service from TypeScript: the typed client brings deadline, token, retry of reads and balancing.
import { connectPeer } from "#platform/rpc/client.ts";
import { tokenFile } from "#platform/secrets/callers.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";

const { TOLLBOOTH_MERCHANT_URL: url = "", TOLLBOOTH_TOKEN_FILE: path = "" } = process.env;
const peer = connectPeer({ url, token: tokenFile.parse(path) });
const { merchants } = await peer.client(MerchantService).listMerchants({ pageSize: 5 }, { timeoutMs: 3_000 });
for (const { id, status } of merchants) console.log(id, status);
peer.close();
