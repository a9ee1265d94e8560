// Loads a processor's script once per page, however many handles want it. A failure is forgotten, so that the next try
// really tries.
import { trustedUrl } from "../page-policy.ts";

const scriptMs = 15_000; // longer than a slow phone network takes for a processor's script, which has some 200 kB
const loading = new Map<string, Promise<void>>();

/** Resolves when the script has run; rejects when it did not load in time. */
export function loadScript(src: string, nonce: string | undefined): Promise<void> {
  const known = loading.get(src);
  if (known !== undefined) return known;
  const fresh = inject(src, nonce);
  loading.set(src, fresh);
  fresh.catch(() => loading.delete(src));
  return fresh;
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
