// Posts a webhook over kept-alive connections, with a time limit for the whole exchange.
import * as http from "node:http";
import * as https from "node:https";

export interface Poster {
  /** @returns the status code. @throws on a connection error or when the limit is reached */
  post(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number>;
  close(): void;
}

const answerMsMax = 5_000;
const answerBytesMax = 64 * 1_024; // the content of the answer is not used

/** @param connectionsMax concurrent connections per origin */
export function openPoster(connectionsMax: number): Poster {
  const settings = { keepAlive: true, maxSockets: connectionsMax };
  const agents = { http: new http.Agent(settings), https: new https.Agent(settings) };
  return {
    post: (url, body, headers) =>
      new Promise((resolve, reject) => {
        const isHttps = url.startsWith("https:");
        const request = (isHttps ? https : http).request(url, {
          method: "POST",
          agent: isHttps ? agents.https : agents.http,
          headers: { ...headers, "content-length": Buffer.byteLength(body) },
          signal: AbortSignal.timeout(answerMsMax),
        });
        request.on("error", reject);
        request.on("response", (answer) => {
          let bytes = 0;
          answer.on("data", (chunk: Buffer) => {
            bytes += chunk.length;
            if (bytes > answerBytesMax) answer.destroy(new Error("the answer is too long"));
          });
          answer.on("error", reject);
          answer.on("end", () => resolve(answer.statusCode ?? 0));
        });
        request.end(body);
      }),
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}
