import type { Agent } from 'node:http';
import type { Duplex } from 'node:stream';

/** Connections that replace TCP, such as streams of a tunnel. They are for plain HTTP: what carries them is encrypted. */
export interface CarriedConnections {
  /** Keeps connections open between requests; belongs to the carrier, so that a client does not close it. */
  readonly agent: Agent;
  /** Opens one for an upgrade. */
  connect(): Duplex;
}

/** A token that may change while the process runs. */
export interface TokenSource {
  /** Null if there is none. */
  current(): Promise<string | null>;
  /** Discards the current token after a refusal; the next call reads it again. */
  invalidate(): void;
}

/** Connection settings and identity for one API server. */
export interface ClusterAccess {
  /** Scheme, host, port and an optional path prefix. */
  server: URL;
  /** PEM certificates to trust. Defaults to the system's. */
  authority?: string;
  /** PEM pair; creating a new access rereads it. */
  clientCertificate?: string;
  clientKey?: string;
  /** Expected name in the server's certificate, if not the host of `server`. */
  serverName?: string;
  insecureSkipVerify: boolean;
  token: TokenSource;
  /** Namespace of the identity: the pod's or the context's. */
  namespace: string;
  /** Absent: TCP to the server's address. */
  connections?: CarriedConnections;
}
