import type { SessionKind } from './held-sandbox.ts';

/** Name of the protocol in upgrade headers: that of the helper, with one operation. */
export const RELAY_PROTOCOL = 'svc-ssh-channel';

const PATH = /^\/internal\/ssh\/(sbx_[a-z2-7]{26})$/;
const KINDS: ReadonlySet<string> = new Set<SessionKind>(['shell', 'exec', 'sftp']);

/** What another replica does for one channel of an SSH connection. */
export type RelayedChannel =
  | { readonly kind: SessionKind }
  /** `isRecorded`: an earlier channel of the same client has put the port in the audit log. */
  | { readonly kind: 'port'; readonly port: number; readonly isRecorded: boolean };

/** Path of the upgrade at the replica that holds the sandbox. */
export function relayPath(sandboxId: string, channel: RelayedChannel): string {
  const port = channel.kind === 'port' ? `&port=${channel.port}&recorded=${channel.isRecorded}` : '';
  return `/internal/ssh/${sandboxId}?kind=${channel.kind}${port}`;
}

/** The sandbox of a path; null for other paths. */
export function sandboxOfPath({ pathname }: URL): string | null {
  return PATH.exec(pathname)?.[1] ?? null;
}

/** Null for what no replica asks for. */
export function channelOfPath({ searchParams }: URL): RelayedChannel | null {
  const kind = searchParams.get('kind') ?? '';
  const port = Number(searchParams.get('port'));
  if (kind === 'port') {
    const isRecorded = searchParams.get('recorded') === 'true';
    return Number.isInteger(port) && port > 0 && port < 65_536 ? { kind, port, isRecorded } : null;
  }
  return KINDS.has(kind) ? { kind: kind as SessionKind } : null; // one of the kinds
}
