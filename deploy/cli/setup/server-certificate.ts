// Creates a server certificate for a new installation with an authority of its own. The authority's key is discarded,
// so it can sign no other certificate.
import type { makeServerCertificate } from "../../local/state/certificate.ts";

// Used inside the cluster only, and pinned by the clients. Replace it with `secrets manifests`, or by cert-manager
// under the same names.
const certificateDays = 3_650;

/**
 * @param authorityName shown in the certificate
 * @param service host name on the Kubernetes or compose network
 * @param others further names, for servers of a cluster
 * @returns a TLS Secret in Kubernetes' format, and the authority
 */
export async function makeCertificateSecret(
  authorityName: string,
  service: string,
  others: readonly string[] = [],
  use?: Parameters<typeof makeServerCertificate>[3],
): Promise<Readonly<Record<string, string>>> {
  const inCluster = ["", ".tollbooth", ".tollbooth.svc", ".tollbooth.svc.cluster.local"].map((rest) => service + rest);
  const hosts = [...inCluster, ...others, "localhost", "127.0.0.1"];
  // Loaded on demand: it takes a tenth of a second of each command.
  const { makeAuthority, makeServerCertificate: make } = await import("../../local/state/certificate.ts");
  const authority = await makeAuthority(authorityName, certificateDays);
  const certificate = await make(authority, hosts, certificateDays, use);
  return { "ca.crt": authority.cert, "tls.crt": certificate.cert, "tls.key": certificate.key };
}
