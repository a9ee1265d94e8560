// The address of a script as a page with Trusted Types wants it. A page that does not let us say so decides by its own
// rules.
import { membersOf } from "../members.ts";

interface PolicyFactory {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): string };
}

let policy: ReturnType<PolicyFactory["createPolicy"]> | undefined;

/** @param name of the policy that makes it: a page makes one of a name once, and each bundle of ours has its own */
export function trustedUrl(src: string, name: string): string {
  const { trustedTypes }: { trustedTypes?: PolicyFactory } = membersOf(globalThis);
  try {
    policy ??= trustedTypes?.createPolicy(name, { createScriptURL: (url) => url });
  } catch {}
  return policy?.createScriptURL(src) ?? src;
}
