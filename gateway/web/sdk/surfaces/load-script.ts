// Loads a processor's script once per page. A failure is not cached, so the next call retries.
import { trustedUrl } from "../page-policy.ts";

const scriptMs = 15_000; // enough for 200 kB on a slow phone network
const loading = new Map<string, Promise<void>>();

/** Rejects if the script does not load in time. */
export function loadScript(src: string, nonce: string | undefined): Promise<void> {
  const pending = loading.get(src);
  if (pending !== undefined) return pending;
  const loaded = inject(src, nonce);
  loading.set(src, loaded);
  loaded.catch(() => loading.delete(src));
  return loaded;
}

function inject(src: string, nonce: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => {
      clearTimeout(timer);
      script.remove();
      reject();
    };
    const timer = setTimeout(fail, scriptMs);
    script.src = trustedUrl(src, "tollbooth");
    script.referrerPolicy = "strict-origin-when-cross-origin";
    if (nonce) script.nonce = nonce;
    script.onload = () => resolve(clearTimeout(timer));
    script.onerror = fail;
    document.head.append(script);
  });
}
