/** A token that may change while the process runs. */
export interface TokenSource {
  /** Null when there is none. */
  current(): Promise<string | null>;
  /** The server refused the last one: the next call must read it again. */
  invalidate(): void;
}

/** All that is needed to reach one API server as one identity. */
export interface ClusterAccess {
  /** Scheme, host, port and an optional path prefix. */
  server: URL;
  /** PEM. Absent = the machine's authorities. */
  authority?: string;
  /** PEM pair; read again by whoever makes the access. */
  clientCertificate?: string;
  clientKey?: string;
  /** Name that the server's certificate must have, when it is not the host of `server`. */
  serverName?: string;
  insecureSkipVerify: boolean;
  token: TokenSource;
  /** Namespace of the identity: the pod's, or the context's. */
  namespace: string;
}
