// Loads a processor's script once per page, however many handles want it. A failure is forgotten, so that the next try
// really tries.
import { membersOf } from "../members.ts";

const scriptMs = 15_000; // longer than a slow phone network takes for a processor's script, which has some 200 kB
const loading = new Map<string, Promise<void>>();

/** Resolves when the script has run. @throws Error when it did not load in time */
export function loadScript(src: string, nonce: string | undefined): Promise<void> {
  const known = loading.get(src);
  if (known !== undefined) return known;
  const fresh = inject(src, nonce);
  loading.set(src, fresh);
  fresh.catch(() => loading.delete(src));
  return fresh;
}

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

/** The address as a page with Trusted Types wants it. One that does not let us say so decides by its own rules. */
function trusted(src: string): string {
  const { trustedTypes }: { trustedTypes?: PolicyFactory } = membersOf(globalThis);
  try {
    policy ??= trustedTypes?.createPolicy("tollbooth", { createScriptURL: (url) => url });
  } catch {}
  return policy?.createScriptURL(src) ?? src;
}

let policy: ReturnType<PolicyFactory["createPolicy"]> | undefined;

function inject(src: string, nonce: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const fail = () => {
      script.remove();
      reject(new Error("the script did not load"));
    };
    const timer = setTimeout(fail, scriptMs);
    script.src = trusted(src);
    script.async = true;
    script.referrerPolicy = "strict-origin-when-cross-origin";
    if (nonce) script.nonce = nonce;
    script.addEventListener("load", () => resolve(clearTimeout(timer)));
    script.addEventListener("error", () => {
      clearTimeout(timer);
      fail();
    });
    document.head.append(script);
  });
}
