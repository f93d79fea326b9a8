import type { ClusterInfo } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';

export interface StateWords {
  word: string;
  tone: Tone;
  live: boolean;
}

type ClusterState = Pick<ClusterInfo, 'status' | 'connected'>;

export function clusterWords({ status, connected }: ClusterState): StateWords {
  if (status === 'pending') return { word: connected ? 'Connecting' : 'Waiting for agent', tone: 'warn', live: true };
  if (status === 'offline') return { word: 'Offline', tone: 'danger', live: false };
  return connected ? { word: 'Online', tone: 'ok', live: true } : { word: 'Reconnecting', tone: 'warn', live: true };
}

export const ONLY_ADMINISTRATORS = 'Only owners and admins of the workspace can do this.';
export const ONLY_MEMBERS = 'Guests have read-only access. Ask a workspace owner to make you a member.';
