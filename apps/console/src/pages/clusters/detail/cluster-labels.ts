import type { ClusterInfo } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';

export interface StateLabel {
  label: string;
  tone: Tone;
  live: boolean;
}

type ClusterState = Pick<ClusterInfo, 'status' | 'connected'>;

export function clusterLabel({ status, connected }: ClusterState): StateLabel {
  if (status === 'pending') return { label: connected ? 'Connecting' : 'Waiting for agent', tone: 'warn', live: true };
  if (status === 'offline') return { label: 'Offline', tone: 'danger', live: false };
  return connected ? { label: 'Online', tone: 'ok', live: true } : { label: 'Reconnecting', tone: 'warn', live: true };
}

export const ONLY_ADMINISTRATORS = 'Only owners and admins of the workspace can do this.';
export const ONLY_MEMBERS = 'Guests have read-only access. Ask a workspace owner to make you a member.';
