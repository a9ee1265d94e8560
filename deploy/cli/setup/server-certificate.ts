// A server's certificate for a first installation, with the authority that vouches for it and for nobody else. The
// authority's key is not kept: nobody can make another.
import type { makeServerCertificate } from "../../local/state/certificate.ts";

// Inside the cluster alone, and pinned by the clients: made anew with `secrets manifests`, or by cert-manager under the
// same names.
const certificateDays = 3_650;

/**
 * @param authorityName for people who read the certificate
 * @param service as clients on its network call it, in Kubernetes and with compose
 * @param others names besides, of the servers of a cluster
 * @returns the keys of a Secret of Kubernetes' type for TLS, and the authority
 */
export async function makeCertificateSecret(
  authorityName: string,
  service: string,
  others: readonly string[] = [],
  use?: Parameters<typeof makeServerCertificate>[3],
): Promise<Readonly<Record<string, string>>> {
  const inCluster = ["", ".tollbooth", ".tollbooth.svc", ".tollbooth.svc.cluster.local"].map((rest) => service + rest);
  const hosts = [...inCluster, ...others, "localhost", "127.0.0.1"];
  // Loaded only when it is needed: it takes a tenth of a second of each command.
  const { makeAuthority, makeServerCertificate: make } = await import("../../local/state/certificate.ts");
  const authority = await makeAuthority(authorityName, certificateDays);
  const certificate = await make(authority, hosts, certificateDays, use);
  return { "ca.crt": authority.cert, "tls.crt": certificate.cert, "tls.key": certificate.key };
}
